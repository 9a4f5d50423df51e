import type { Clock } from '../policy/clock.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';

/** An attempt's failure that is not counted yet. */
interface HeldFailure<A> {
  readonly attempt: A;
  readonly facts: FailureFacts;
}

/** Why a server is asked for a sign of life: a call passed a limit, or its caller gave it up. */
export type SuspicionCause = 'limit' | 'cancelled';

type Inquire = (cause: SuspicionCause) => PromiseLike<boolean>;

/** Moves on when it is known whether a suspect server lives. */
export interface SuspicionWatcher {
  /** @param alive - whether it answered. */
  inquiryEnded(alive: boolean): void;
}

/**
 * Suspicion of the server of an integration: a call of it fell silent, and it is asked for a sign of life. Until it has answered nothing is dispatched, which
 * would be lost with it, and silence is not counted: calls that fall silent together are one incident when the server hangs, and a failure each when it
 * answers.
 */
export class Suspicion<A> {
  /** True while the server is suspect. */
  raised = false;
  readonly #inquire: Inquire | undefined;
  readonly #clock: Clock;
  readonly #watcher: SuspicionWatcher;
  #held: HeldFailure<A>[] = [];
  /** Identity of the inquiry under way. */
  #inquiry: object | undefined = undefined;
  #raisedAt = 0;

  constructor(
    { onSilence, clock }: { readonly onSilence?: Inquire | undefined; readonly clock: Clock },
    watcher: SuspicionWatcher,
  ) {
    this.#inquire = onSilence;
    this.#clock = clock;
    this.#watcher = watcher;
  }

  /** For how long it has been suspect, in ms; of no meaning while it is not. */
  get forMs(): number {
    return this.#clock.now() - this.#raisedAt;
  }

  /** A call passed its limit, or was given up: the server is asked for a sign of life, where it can be, once at a time. */
  raise(cause: SuspicionCause = 'limit'): void {
    const inquire = this.#inquire;
    if (inquire === undefined || this.#inquiry !== undefined) return;
    const inquiry = {};
    this.#inquiry = inquiry;
    this.raised = true;
    this.#raisedAt = this.#clock.now();
    // A turn later: a server that was found hung is being ended by then, and its calls find the integration crashed.
    const known = (alive: boolean): void => this.#clock.nextTurn(() => this.#end(inquiry, alive));
    // Not at once: the server first hears that the call is given up.
    this.#clock.nextTurn(() => {
      if (this.#inquiry === inquiry) void inquire(cause).then(known, () => known(false));
    });
  }

  /** Keeps a failure until more is known. */
  hold(attempt: A, facts: FailureFacts): void {
    this.#held.push({ attempt, facts });
  }

  /** The server is suspect no longer. @returns the failures that were held; undefined when it was not. */
  clear(): readonly HeldFailure<A>[] | undefined {
    if (this.#inquiry === undefined) return undefined;
    this.#inquiry = undefined;
    this.raised = false;
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #end(inquiry: object, alive: boolean): void {
    if (this.#inquiry === inquiry) this.#watcher.inquiryEnded(alive);
  }
}
