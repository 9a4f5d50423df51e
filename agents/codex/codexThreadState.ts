import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import type { CodexNotice } from './protocol/notifications.ts';
import type { RunningTurn } from './codexRunningTurn.ts';

/** State of one thread on one connection. */
export class ThreadState {
  readonly id: string;
  /** The turn Codex says is under way, ours or not. */
  active: string | undefined = undefined;
  /** The turn whose input was sent and of which nobody knows what became. */
  unclear: object | undefined = undefined;
  /** A turn that begins now was given up before it had a name. */
  unwanted = false;
  /** Codex has put the thread away. */
  closed = false;
  turn: RunningTurn | undefined = undefined;
  /** True while a request of somebody's own begins a turn. */
  #beginning = false;
  #lastEnded: string | undefined = undefined;
  readonly #interrupt: (turn: string) => void;

  /** @param interrupt - ends a turn that nobody waits for. */
  constructor(id: string, interrupt: (turn: string) => void) {
    this.id = id;
    this.#interrupt = interrupt;
  }

  /** Takes one notification of this thread. */
  take(method: string, notice: CodexNotice, params: Readonly<Record<string, unknown>>, bytes: number): void {
    if (notice.kind === 'turnStarted') this.#turnBegan(notice.turn);
    else if (notice.kind === 'turnCompleted' && (notice.turn === undefined || notice.turn === this.active)) {
      this.active = undefined;
      this.unclear = undefined;
      this.#lastEnded = notice.turn;
    } else if (method === 'thread/closed') this.closed = true;
    this.turn?.take(method, notice, params, bytes);
  }

  /** A resume says what became of the inputs before. @param active - the turn that was under way then; what ended since was told. */
  resumed(active: string | undefined): void {
    this.unclear = undefined;
    if (this.turn === undefined) this.active = active === this.#lastEnded ? undefined : active;
  }

  /** The input of a turn that was given up was not taken. */
  refused(turn: RunningTurn): void {
    if (this.unclear !== turn) return;
    this.unclear = undefined;
    this.unwanted = false;
  }

  /**
   * Has a request of somebody's own begin a turn, so that nobody else does meanwhile.
   * @param request - gives the id of the turn. Rejects as `request`, or with what is in its way.
   */
  async begin<T>(request: () => Promise<T>, idOf: (answer: T) => string | undefined): Promise<T> {
    const { obstacle } = this;
    if (obstacle !== undefined) throw new AttemptError(obstacle);
    this.#beginning = true;
    try {
      const answer = await request();
      const turn = idOf(answer);
      // It may have begun, and ended, before it was answered.
      if (this.active === undefined && turn !== this.#lastEnded) this.active = turn;
      return answer;
    } catch (error) {
      const outcome = error instanceof AttemptError ? error.facts.outcome : 'unknown';
      const isTold = outcome === 'failed' || outcome === 'not_started';
      if (!isTold && this.active === undefined) this.unclear = {};
      throw error;
    } finally {
      this.#beginning = false;
    }
  }

  /** Its connection is gone. */
  lost(facts: FailureFacts): void {
    this.closed = true;
    this.turn?.finish({ how: 'lost', facts });
  }

  /** Why no turn can be begun now; undefined when one can. */
  get obstacle(): FailureFacts | undefined {
    if (this.closed) {
      return {
        kind: 'unavailable',
        reason: 'connection_lost',
        message: `The thread ${this.id} is gone with its connection; resume it by its id`,
        outcome: 'not_started',
      };
    }
    if (this.turn !== undefined || this.active !== undefined || this.#beginning)
      return busy(this.id, 'a turn is under way in it');
    if (this.unclear === undefined) return undefined;
    return busy(this.id, 'what became of its last input is not known; resume it to see');
  }

  #turnBegan(turn: string | undefined): void {
    this.active = turn;
    if (!this.unwanted || turn === undefined || this.turn !== undefined) return;
    this.unwanted = false;
    this.#interrupt(turn);
  }
}

function busy(thread: string, why: string): FailureFacts {
  return {
    kind: 'too_many_requests',
    reason: 'scope_busy',
    message: `The thread ${thread} takes no input now: ${why}`,
    outcome: 'not_started',
  };
}
