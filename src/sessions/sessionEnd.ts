import type { FailureFacts } from '../policy/failures/failure.ts';
import { inTime } from '../policy/inTime.ts';
import type { OrderResult } from '../policy/operatorOrder.ts';
import { duration, type Given, text } from '../policy/options/optionKeys.ts';
import type { Intake } from './intake.ts';
import type { Persistence } from './persistence.ts';
import type { SessionScope } from './sessionScope.ts';
import { turnEnds } from './turnEnds.ts';
import type { Turns } from './turns.ts';

export const closeKeys = {
  /** Why, in a few words, for the record and for those whose messages end by it. */
  reason: text(),
  /** Name of who orders it, for the record. */
  by: text(),
  /**
   * Time that the turn under way and the messages that wait may take to end by themselves, in ms, at least 0. Then the turn is cut, and what still waits
   * becomes dead letters. @defaultValue 0
   */
  drainMs: duration({ zero: true, default: 0 }),
};

/** Options for closing a session. */
export interface CloseOptions extends Given<typeof closeKeys> {}

/** End of a session, and whose it is. */
export interface Ending extends Omit<CloseOptions, 'drainMs'> {
  /** Somebody closed it, it was idle for its `idleCloseMs`, it made room for others, or is forgotten. */
  readonly because: 'closed' | 'idle' | 'room' | 'forgotten';
  /** @defaultValue 0 */
  readonly drainMs?: number | undefined;
}

/** The end of a session in a runtime that goes on. Nothing that was acknowledged is lost by it: what is not processed is a dead letter. */
export class SessionEnd {
  /** Never rejects. */
  readonly ended: Promise<OrderResult>;
  /** True where its gateway ended it, of itself. */
  readonly isOwn: boolean;
  readonly #turns: Turns;
  /** Called with each end of a turn. */
  turnEnded: () => void = () => undefined;

  /** @param left - has its runtime let go of it. Must not reject. */
  constructor(
    ending: Ending,
    ...parts: [scope: SessionScope, persistence: Persistence, intake: Intake, turns: Turns, left: () => Promise<void>]
  ) {
    this.#turns = parts[3];
    this.isOwn = ending.because === 'idle' || ending.because === 'room';
    this.ended = this.#end(ending, ...parts);
  }

  async #end(
    { because, reason, by, drainMs = 0 }: Ending,
    ...[scope, persistence, intake, turns, left]: [SessionScope, Persistence, Intake, Turns, () => Promise<void>]
  ): Promise<OrderResult> {
    const { id: session, facts, clock, mailbox, watchdog } = scope;
    const { closed } = turnEnds;
    const end: FailureFacts = reason === undefined ? closed : { ...closed, message: `${closed.message}: ${reason}` };
    intake.refuse();
    await persistence.opening;
    await inTime(
      this.#quiet(() => mailbox.length === 0),
      { clock, limitMs: drainMs },
    );
    const deadLetters = intake.bury(end);
    const cut = turns.running !== undefined;
    turns.abort(end);
    await inTime(this.#quiet(), { clock, limitMs: watchdog.releaseMs });
    turns.abandon(end);
    scope.draining = true;
    // Behind what was written of its last turn.
    await persistence.release();
    intake.close();
    await left();
    facts.tell({ type: 'session.closed', session, because, reason, by, cut, deadLetters });
    const letters = deadLetters === 0 ? '' : ` Messages that waited are dead letters: ${deadLetters}.`;
    return { ok: true, text: `${session} is closed.${cut ? ' Its turn was cut.' : ''}${letters}` };
  }

  /** Resolves when no turn is under way, and nothing is to begin. */
  #quiet(isEmpty = (): boolean => true): Promise<void> {
    return new Promise((resolve) => {
      this.turnEnded = () => this.#turns.running === undefined && isEmpty() && resolve();
      this.turnEnded();
    });
  }
}
