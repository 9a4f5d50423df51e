import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Attempt, AttemptedCall } from './attempt.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import type { Deadline } from './deadlineQueue.ts';
import { GivenUpWork } from './givenUpWork.ts';

/** Is told when work has outlived its grace. */
export interface AbandonmentWatcher<A> {
  abandoned(attempt: A): void;
}

type AbandonmentOptions = Pick<CallPathOptions<never, never>, 'clock' | 'deadlines' | 'policy'>;

/**
 * Attempts that were given up while their work goes on. The work has a grace to end in; when that is over, the attempt is abandoned and
 * its permit is given to others. Each has as long, so one deadline does for all: that of the first.
 */
export class AbandonedAttempts<A extends Attempt<AttemptedCall>> implements Deadline {
  due = 0;
  heapIndex = -1;
  readonly #options: AbandonmentOptions;
  readonly #watcher: AbandonmentWatcher<A>;
  /** Attempts whose work has its grace, in the order in which that is over. */
  readonly #inGrace = new Set<A>();

  constructor(options: AbandonmentOptions, watcher: AbandonmentWatcher<A>) {
    this.#options = options;
    this.#watcher = watcher;
  }

  /** Notes that an attempt was given up. @param isWatched - whether the end of its grace matters to anybody. */
  add(attempt: A, facts: FailureFacts, isWatched: boolean): void {
    const { clock, policy } = this.#options;
    const since = clock.now();
    attempt.givenUp = new GivenUpWork(facts, since);
    if (!isWatched) return;
    this.#inGrace.add(attempt);
    if (this.heapIndex < 0) this.#waitUntil(since + policy.abortGraceMs);
  }

  /** Its work has ended within its grace. */
  delete(attempt: A): void {
    if (this.#inGrace.delete(attempt) && this.#inGrace.size === 0) this.#options.deadlines.remove(this);
  }

  /** From here on nothing waits for the end of work. */
  clear(): void {
    for (const attempt of this.#inGrace) this.delete(attempt);
  }

  expire(now: number): void {
    const { clock, policy } = this.#options;
    for (const attempt of this.#inGrace) {
      const { since } = attempt.givenUp as GivenUpWork;
      const due = since + policy.abortGraceMs + (clock.stalls?.since(since) ?? 0);
      if (due > now) {
        this.#waitUntil(due);
        return;
      }
      this.#inGrace.delete(attempt);
      (attempt.givenUp as GivenUpWork).abandoned = true;
      this.#watcher.abandoned(attempt);
    }
  }

  #waitUntil(due: number): void {
    this.due = Math.ceil(due);
    // Its caller has been told: a hung call must not keep the process alive for its grace.
    this.#options.deadlines.setLoose(this);
  }
}
