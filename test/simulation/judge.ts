import type { SimulatedClock } from '../../testing/simulatedClock.ts';
import type { Trace } from './trace.ts';

/** A promise of the runtime that was not kept. */
export interface Violation {
  /** ID of the requirement. */
  readonly requirement: string;
  readonly what: string;
  /** Simulated time, in ms. */
  readonly at: number;
  /** What led to it, oldest first. */
  readonly lines: readonly string[];
}

/** How late a call may settle, in ms (I-1). */
const toleranceMs = 50;

/** Keeps the first violation. Callbacks must not throw into the runtime, so that a violation is noted, not thrown. */
export class Judge {
  violation: Violation | undefined = undefined;
  /** Planned steps that were come to. */
  reached = 0;
  /** When the event loop last ran again after it was blocked: nothing can be judged in time before. */
  resumedAt = 0;
  readonly #stalls: { readonly from: number; readonly until: number }[] = [];
  readonly #clock: SimulatedClock;
  readonly #trace: Trace;

  constructor(clock: SimulatedClock, trace: Trace) {
    this.#clock = clock;
    this.#trace = trace;
  }

  /** The event loop stood still until now. */
  resumed(stalledMs: number): void {
    const now = this.#clock.now();
    this.resumedAt = now;
    this.#stalls.push({ from: now - stalledMs, until: now });
  }

  /** How much of the time since `at` the event loop stood still, in ms: no limit on silence or on an attempt counts it (G-6). */
  stalledSince(at: number): number {
    const late = this.#stalls.filter(({ until }) => until > at);
    return late.reduce((sum, { from, until }) => sum + until - Math.max(from, at), 0);
  }

  /** Whether what began then fails in the wake of a stall of a second or more: no breaker counts it (G-6). */
  isInWake(startedAt: number, isConnection: boolean): boolean {
    const afterMs = isConnection ? 1000 : 0;
    return this.#stalls.some(({ from, until }) => until - from >= 1000 && until + afterMs > startedAt);
  }

  violate(requirement: string, what: string): void {
    if (this.violation !== undefined) return;
    this.#trace.note(`VIOLATION [${requirement}] ${what}`);
    this.violation = { requirement, what, at: this.#clock.now(), lines: this.#trace.last(31) };
  }

  /** Notes a violation unless the claim holds. */
  expect(claim: boolean, requirement: string, what: () => string): void {
    if (!claim) this.violate(requirement, what());
  }

  /** Whether what was due then should have happened by now. */
  overdue(dueAt: number, toleratedMs = toleranceMs): boolean {
    return this.#clock.now() > Math.max(dueAt, this.resumedAt) + toleratedMs;
  }
}
