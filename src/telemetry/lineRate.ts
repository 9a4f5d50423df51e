import type { Clock } from '../policy/clock.ts';

/** Lines of one subject, and lines in all, that are said within a minute. */
const mostOfOne = 5;
const mostInAll = 60;
const periodMs = 60_000;
/** Subjects that are counted; of more the oldest is forgotten. */
const mostSubjects = 1000;

interface Count {
  since: number;
  said: number;
  held: number;
}

/** Bounds how much is said: a flood of the same must not bury everything else in a host's log. */
export class LineRate {
  readonly #clock: Clock;
  readonly #subjects = new Map<string, Count>();
  #all: Count;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = { since: clock.now(), said: 0, held: 0 };
  }

  /** Tells how many lines about a subject were held back since the last one that was said; undefined: so is this one. */
  admit(subject: string): number | undefined {
    const now = this.#clock.now();
    const count = this.#countOf(subject, now);
    if (now - this.#all.since >= periodMs) this.#all = { since: now, said: 0, held: 0 };
    if (count.said >= mostOfOne || this.#all.said >= mostInAll) {
      count.held++;
      return undefined;
    }
    const { held } = count;
    count.said++;
    count.held = 0;
    this.#all.said++;
    return held;
  }

  #countOf(subject: string, now: number): Count {
    const known = this.#subjects.get(subject);
    if (known !== undefined && now - known.since < periodMs) return known;
    const count = { since: now, said: 0, held: known?.held ?? 0 };
    this.#subjects.delete(subject);
    this.#subjects.set(subject, count);
    const [oldest] = this.#subjects.keys();
    if (this.#subjects.size > mostSubjects && oldest !== undefined) this.#subjects.delete(oldest);
    return count;
  }
}
