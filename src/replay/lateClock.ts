import type { Clock, Timer, TimerOptions } from '../policy/clock.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';
import type { SessionPlan } from './sessionPlan.ts';

/** How late a timer may have come up on the machine of the record, in ms. */
export const latestMs = 20;
/** Puts a limit behind an answer that came in time, because nobody had looked at the limit yet, in ms. */
const behindMs = 0.0005;

/**
 * A clock for deadlines, whose timers come up as late as they did when they were recorded. A timer of a busy process is late by some ms, and
 * what arrives meanwhile is in time; without it, what was a close race then might end the other way.
 */
export class LateClock implements Clock {
  readonly #clock: Clock;
  /** When deadlines were looked at, in order. */
  readonly #wakes: readonly number[];

  constructor(clock: Clock, plans: readonly IntegrationPlan[], session: SessionPlan | undefined) {
    const wakes = plans.flatMap((plan) => {
      const freed = freedBy(plan);
      return [...plan.calls, ...plan.probes].flatMap((call) => wakesOf(call, freed));
    });
    this.#clock = clock;
    this.#wakes = [...wakes, ...(session?.firings ?? [])].toSorted((one, other) => one - other);
  }

  now(): number {
    return this.#clock.now();
  }

  wallNow(): number {
    return this.#clock.wallNow();
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    const now = this.now();
    return this.#clock.setTimeout(callback, this.#wakeAfter(now + delayMs) - now, options);
  }

  clearTimeout(timer: Timer | undefined): void {
    this.#clock.clearTimeout(timer);
  }

  nextTurn(callback: () => void): void {
    this.#clock.nextTurn(callback);
  }

  get stalls(): Clock['stalls'] {
    return this.#clock.stalls;
  }

  #wakeAfter(at: number): number {
    // Limits are set in whole ms, their timers up to 1 ms later. Times are known to a thousandth.
    const due = Math.floor(at + 0.001);
    let [low, high] = [0, this.#wakes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#wakes[middle] ?? 0) < due - 0.001) low = middle + 1;
      else high = middle;
    }
    const wake = this.#wakes[low];
    return wake !== undefined && wake <= at + latestMs ? Math.max(due, wake) : at;
  }
}

/**
 * When deadlines must have been looked at, as a call tells: a limit passed, a wait was over, or one that had passed was not seen yet. The
 * start of an attempt tells nothing where something else ended at that time: it may have waited for its place.
 */
function wakesOf({ arrivedAt, attempts, end, limits }: PlannedCall, freed: ReadonlySet<number>): readonly number[] {
  const wakes: number[] = [];
  let freeSince = arrivedAt;
  let waitsUntil: number | undefined = undefined;
  for (const { startedAt, endedAt, end: how, delayMs } of attempts.values()) {
    if (startedAt > freeSince && !freed.has(startedAt)) wakes.push(startedAt);
    else if (waitsUntil !== undefined) wakes.push(waitsUntil);
    const isAnswer = how === 'answered' || how === 'threw';
    const hadPassed =
      endedAt >= Math.min(startedAt + limits.attemptMs, arrivedAt + limits.overallMs, startedAt + limits.idleMs);
    if (how === 'limit') wakes.push(endedAt);
    else if (isAnswer && hadPassed) wakes.push(endedAt + behindMs);
    freeSince = endedAt;
    // Waits end at whole ms.
    waitsUntil = typeof delayMs === 'number' ? Math.ceil(endedAt + delayMs) : undefined;
  }
  if (end !== undefined && end.at > freeSince) wakes.push(end.at);
  return wakes;
}

/** When attempts ended, or their work: what waited for a place may have gone on. */
function freedBy({ calls, probes }: IntegrationPlan): ReadonlySet<number> {
  const attempts = [...calls, ...probes].flatMap((call) => [...call.attempts.values()]);
  return new Set(attempts.flatMap(({ endedAt, workEndedAt = endedAt }) => [endedAt, workEndedAt]));
}
