import type { FailureFacts } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Deadline } from './deadlineQueue.ts';

/** What is done for an attempt. */
export interface AttemptKeeper<I, O> {
  /** Its work outlived its grace. */
  workOverstayed(attempt: Attempt<I, O>, overstay: Overstay<I, O>, now: number): void;
}

/** Work that goes on after its attempt was given up: the deadline for writing it off. Few attempts ever need one. */
export class Overstay<I, O> implements Deadline {
  due: number;
  heapIndex = -1;
  abandoned = false;
  readonly since: number;
  /** Why its attempt was given up. */
  readonly facts: FailureFacts;
  readonly #attempt: Attempt<I, O>;
  readonly #keeper: AttemptKeeper<I, O>;

  constructor(
    keeper: AttemptKeeper<I, O>,
    attempt: Attempt<I, O>,
    facts: FailureFacts,
    since: number,
    graceMs: number,
  ) {
    this.#keeper = keeper;
    this.#attempt = attempt;
    this.facts = facts;
    this.since = since;
    this.due = since + graceMs;
  }

  expire(now: number): void {
    this.#keeper.workOverstayed(this.#attempt, this, now);
  }
}
