import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Deadline } from './deadlineQueue.ts';

/** Work that goes on after its attempt was given up, with the deadline of its grace. Few attempts ever need one. */
export class GivenUpWork implements Deadline {
  due: number;
  heapIndex = -1;
  /** It outlived its grace. */
  abandoned = false;
  /** It was not told to end, and gave its permit back: its grace is the time for which it is kept. */
  kept = false;
  readonly since: number;
  /** Why its attempt was given up. */
  readonly facts: FailureFacts;
  readonly #outlived: (now: number) => void;

  /** @param outlived - told when its grace may be over. */
  constructor(facts: FailureFacts, since: number, graceMs: number, outlived: (now: number) => void) {
    this.facts = facts;
    this.since = since;
    this.due = since + graceMs;
    this.#outlived = outlived;
  }

  expire(now: number): void {
    this.#outlived(now);
  }
}
