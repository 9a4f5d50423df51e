import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Attempt, AttemptedCall } from './attempt.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { GivenUpWork } from './givenUpWork.ts';

/** Is told when work has outlived its grace. */
export interface AbandonmentWatcher<A> {
  abandoned(attempt: A): void;
}

type AbandonmentOptions = Pick<CallPathOptions<never, never>, 'clock' | 'deadlines' | 'policy'>;

/**
 * Attempts that were given up while their work goes on. The work has a grace to end in; when that is over, the attempt is abandoned and
 * its permit is given to others.
 */
export class AbandonedAttempts<A extends Attempt<AttemptedCall>> {
  readonly #options: AbandonmentOptions;
  readonly #watcher: AbandonmentWatcher<A>;
  /** Attempts whose work has its grace. */
  readonly #inGrace = new Set<A>();

  constructor(options: AbandonmentOptions, watcher: AbandonmentWatcher<A>) {
    this.#options = options;
    this.#watcher = watcher;
  }

  /** Notes that an attempt was given up. @param isWatched - whether the end of its grace matters to anybody. */
  add(attempt: A, facts: FailureFacts, isWatched: boolean): void {
    const outlived = (now: number): void => this.#outlived(attempt, now);
    const work = new GivenUpWork(facts, this.#options.clock.now(), this.#options.policy.abortGraceMs, outlived);
    attempt.givenUp = work;
    if (!isWatched) return;
    this.#inGrace.add(attempt);
    // Its caller has been told: a hung call must not keep the process alive for its grace.
    this.#options.deadlines.setLoose(work);
  }

  /** Its work has ended within its grace. */
  delete(attempt: A): void {
    this.#inGrace.delete(attempt);
    if (attempt.givenUp !== undefined) this.#options.deadlines.remove(attempt.givenUp);
  }

  /** From here on nothing waits for the end of work. */
  clear(): void {
    for (const attempt of [...this.#inGrace]) this.delete(attempt);
  }

  #outlived(attempt: A, now: number): void {
    const { givenUp } = attempt;
    if (givenUp === undefined) return;
    const { clock, policy, deadlines } = this.#options;
    const due = givenUp.since + policy.abortGraceMs + (clock.stalls?.since(givenUp.since) ?? 0);
    if (due > now) {
      givenUp.due = Math.ceil(due);
      deadlines.setLoose(givenUp);
      return;
    }
    this.#inGrace.delete(attempt);
    givenUp.abandoned = true;
    this.#watcher.abandoned(attempt);
  }
}
