import type { ReaderQueue } from '../../src/telemetry/face.ts';
import type { AttemptContext } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { RpcResponseError } from './rpc/pendingRequest.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { recordIn, textIn } from '../../src/protocol/face.ts';
import { requestLimitMs } from './protocol/requests.ts';
import { turnFailure, turnInterrupted } from './protocol/codexFailures.ts';
import { RunningTurn, type TurnEnd } from './codexRunningTurn.ts';
import type { LiveConnection } from './codexLive.ts';
import type { CodexCalls } from './codexCalls.ts';
import type { RunRequest } from './codexRequests.ts';
import type { CodexScope } from './codexOptions.ts';
import type { ThreadState } from './codexThreadState.ts';
import { commandsLeft } from './codexTurnCommands.ts';
import type { CodexTurnEvent, CodexTurnResult } from './codexTypes.ts';

/** Scope that all turns of one thread share. */
export interface ThreadScope {
  readonly codex: CodexScope;
  readonly calls: CodexCalls;
  readonly run: RunRequest;
  /** The connection that the thread was begun or resumed on. */
  readonly live: LiveConnection;
  readonly state: ThreadState;
}

/** Turn to be run. */
interface TurnWork {
  readonly thread: ThreadScope;
  /** Parameters of `turn/start`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly stream: ReaderQueue<CodexTurnEvent>;
  readonly idleMs: number;
  /** Told of the turn once it is begun. */
  readonly onBegin: (turn: RunningTurn) => void;
}

/**
 * Runs one turn: its end, the end of its process and the end of its call race. A turn that is given up is interrupted; an
 * app-server that does not let go of it is killed. Rejects with an {@link AttemptError}.
 */
export async function runTurn(work: TurnWork, { signal, touch }: AttemptContext): Promise<CodexTurnResult> {
  const { stream, idleMs } = work;
  const { live, state, codex } = work.thread;
  const { obstacle } = state;
  if (obstacle !== undefined) throw new AttemptError(obstacle);
  const turn = new RunningTurn({ clock: codex.runtime.clock, stream, touch, idleMs });
  state.turn = turn;
  state.unwanted = false;
  work.onBegin(turn);
  const running = new TurnRun(work, turn).race(signal);
  live.hold(running);
  try {
    return await running;
  } finally {
    turn.finish({ how: 'silent' });
    live.questions.turnEnded(turn);
    state.turn = undefined;
  }
}

interface Refused {
  readonly refused: unknown;
}
type Begun = { readonly begun: true } | Refused;

/** A turn from its input to its end. */
class TurnRun {
  readonly #work: TurnWork;
  readonly #turn: RunningTurn;
  readonly #live: LiveConnection;
  readonly #thread: ThreadState;
  readonly #clock: Clock;
  readonly #interruptMs: number;

  constructor(work: TurnWork, turn: RunningTurn) {
    const { live, state, codex } = work.thread;
    this.#work = work;
    this.#turn = turn;
    this.#live = live;
    this.#thread = state;
    this.#clock = codex.runtime.clock;
    this.#interruptMs = codex.settings.interruptMs;
  }

  async race(signal: AbortSignal): Promise<CodexTurnResult> {
    const turn = this.#turn;
    const aborted = new Promise<'aborted'>((resolve) => {
      if (signal.aborted) resolve('aborted');
      signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    });
    const begun = this.#begin();
    const first = await Promise.race([begun, turn.ended, aborted]);
    if (first === 'aborted') return this.#giveUp(begun);
    if ('refused' in first) throw this.#refused(first.refused);
    const end = 'how' in first ? first : await Promise.race([turn.ended, aborted]);
    if (end === 'aborted') return this.#giveUp(begun);
    // Cut off by an answer to an approval, or by another client: nobody goes on with what it began.
    const left = end.how === 'told' && end.status === 'interrupted' ? await this.#endCommands() : [];
    return this.#concluded(end, left);
  }

  /** Ends the turn, and what it began: Codex ends no command with it. */
  async #giveUp(begun: Promise<Begun>): Promise<CodexTurnResult> {
    try {
      return await this.#letGo(begun);
    } finally {
      await this.#endCommands();
    }
  }

  async #endCommands(): Promise<readonly string[]> {
    const { id } = this.#turn;
    return id === undefined || this.#live.lost !== undefined ? [] : this.#live.endCommands(this.#thread.id, id);
  }

  /** Sends the input, once. Never rejects. */
  async #begin(): Promise<Begun> {
    const { params, idleMs } = this.#work;
    const limitMs = requestLimitMs('turn/start');
    // The inner one of two limits that tie says more.
    const release = idleMs < limitMs ? undefined : this.#turn.hold();
    try {
      const result = await this.#live.request('turn/start', params, { limitMs });
      const id = textIn(recordIn(recordIn(result)?.['turn'])?.['id']);
      if (id !== undefined) this.#turn.nameIt(id);
      return { begun: true };
    } catch (error) {
      return { refused: error };
    } finally {
      release?.();
    }
  }

  /** The input may have been taken although its answer did not come: the thread takes no other until that is known. */
  #refused(error: unknown): unknown {
    if (this.#live.lost !== undefined) return new AttemptError(this.#live.loss());
    if (error instanceof AttemptError && error.facts.kind === 'timeout') {
      this.#thread.unclear = this.#turn;
      void this.#live.suspect();
    }
    return error;
  }

  #concluded(end: TurnEnd, left: readonly string[] = []): CodexTurnResult {
    const { effects, id: turn = '', text, tokens, items, toolCalls, retries } = this.#turn;
    if (end.how === 'lost') throw new AttemptError(this.#live.loss());
    if (end.how === 'silent') {
      this.#thread.active = undefined;
      throw new AttemptError(endUntold);
    }
    switch (end.status) {
      case 'completed':
        return { thread: this.#thread.id, turn, text, tokens, items, toolCalls, effects, retries };
      case 'interrupted':
        throw new AttemptError(turnInterrupted(effects, left.length === 0 ? undefined : commandsLeft(left)));
      default:
        throw new AttemptError(turnFailure(end.error, effects, this.#clock.wallNow()));
    }
  }

  /** Its call is over: has Codex end the turn, and kills it where it does not. */
  async #letGo(begun: Promise<Begun>): Promise<CodexTurnResult> {
    const turn = this.#turn;
    let expire: () => void = () => undefined;
    const expired = new Promise<'expired'>((resolve) => {
      expire = () => resolve('expired');
    });
    const limit = { ref: true, running: true };
    const timer = this.#clock.setTimeout(() => this.#clock.nextTurn(expire), this.#interruptMs, limit);
    try {
      const named = turn.named.then(() => 'named' as const);
      const answered = begun.then<'named' | Refused>((it) => ('refused' in it ? it : named));
      const known = await Promise.race([named, turn.ended, expired, answered]);
      if (known === 'named') return await this.#interrupt(expired);
      if (known === 'expired') throw this.#neverNamed(begun);
      if ('refused' in known) throw this.#refused(known.refused);
      return this.#lateEnd(known);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  /** Without a name there is nothing to interrupt: whatever comes of the input is not wanted. */
  #neverNamed(begun: Promise<Begun>): AttemptError {
    const thread = this.#thread;
    thread.unclear = this.#turn;
    thread.unwanted = true;
    void begun.then((late) => {
      if ('refused' in late && wasRefused(late.refused)) thread.refused(this.#turn);
    });
    void this.#live.suspect();
    return new AttemptError(given);
  }

  async #interrupt(expired: Promise<'expired'>): Promise<CodexTurnResult> {
    const { id } = this.#turn;
    const thread = this.#thread;
    const limitMs = this.#interruptMs;
    let isUnknown = false;
    this.#live
      .request('turn/interrupt', { threadId: thread.id, turnId: id }, { limitMs, urgent: true })
      .catch((error: unknown) => {
        // It has just ended, and its end is on its way or was lost.
        isUnknown = wasRefused(error);
      });
    const end = await Promise.race([this.#turn.ended, expired]);
    if (end !== 'expired') return this.#lateEnd(end);
    if (!isUnknown) this.#live.kill(notLetGo(limitMs));
    else if (thread.active === id) thread.active = undefined;
    throw new AttemptError(given);
  }

  /** A loss is counted by a call that still waits. */
  #lateEnd(end: TurnEnd): CodexTurnResult {
    if (end.how === 'lost') throw new AttemptError(given);
    return this.#concluded(end);
  }
}

/** Tells whether Codex answered that it refuses the request. */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof AttemptError)) return false;
  return error.facts.cause instanceof RpcResponseError && error.facts.outcome !== 'unknown';
}

const given: FailureFacts = { kind: 'cancelled', message: 'The turn was given up', outcome: 'cancelled' };

const endUntold: FailureFacts = {
  kind: 'protocol',
  message: 'Codex says that the thread is idle, and not how its turn ended',
  outcome: 'unknown',
};

function notLetGo(limitMs: number): FailureFacts {
  const message = `Codex did not let go of an interrupted turn within ${formatDuration(limitMs)} and was killed`;
  return { kind: 'crash', reason: 'hang', message, outcome: 'unknown' };
}
