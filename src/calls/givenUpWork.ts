import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Deadline } from './deadlineQueue.ts';

/** Work that goes on after its attempt was given up; of work that is kept, with its deadline. Few attempts ever need one. */
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

  /** @param keptMs - for how long it is kept. @param outlived - told when that is over. */
  constructor(facts: FailureFacts, since: number, keptMs = 0, outlived: (now: number) => void = noop) {
    this.facts = facts;
    this.since = since;
    this.due = since + keptMs;
    this.#outlived = outlived;
  }

  expire(now: number): void {
    this.#outlived(now);
  }
}

function noop(): void {}
