import type { Clock, Timer, TimerOptions } from '../../src/policy/face.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';
import type { SessionPlan } from './sessionPlan.ts';

/** Most that a timer may have come up late on the machine of the record, in ms. */
const latestMs = 20;
/** Most that one may have come up late of which it is known what it was for, in ms. A loop that stood still for longer is on record. */
const knownLatestMs = 1000;
/** Puts a limit behind an answer that came in time, because nobody had looked at the limit yet, in ms. */
const behindMs = 0.0005;

/** A time at which deadlines were looked at. */
interface Wake {
  readonly at: number;
  /** Due time of what ended then; undefined where nothing tells. */
  readonly due: number | undefined;
  /** It came within the ms in which it was due. */
  readonly isInTime?: true;
}

/**
 * A clock for deadlines, whose timers come up as late as they did when they were recorded. A timer of a busy process is late by some ms, and
 * what arrives meanwhile is in time; without it, what was a close race then might end the other way.
 */
export class LateClock implements Clock {
  readonly #clock: Clock;
  /** In order. */
  readonly #wakes: readonly Wake[];

  constructor(clock: Clock, plans: readonly IntegrationPlan[], session: SessionPlan | undefined) {
    const wakes = plans.flatMap((plan) => {
      const freed = freedBy(plan);
      return [...plan.calls, ...plan.probes].flatMap((call) => wakesOf(call, freed));
    });
    this.#clock = clock;
    const firings = (session?.firings ?? []).map((at): Wake => ({ at, due: undefined }));
    this.#wakes = [...wakes, ...firings].toSorted((one, other) => one.at - other.at);
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
      if ((this.#wakes[middle]?.at ?? 0) < due - 0.001) low = middle + 1;
      else high = middle;
    }
    const wake = this.#wakes[low];
    if (wake === undefined || (wake.isInTime === true && wake.at <= at + 1)) return at;
    const isKnown = wake.due !== undefined && Math.abs(wake.due - at) <= 1;
    return wake.at <= at + (isKnown ? knownLatestMs : latestMs) ? Math.max(due, wake.at) : at;
  }
}

/**
 * Finds when deadlines must have been looked at, as a call tells: a limit passed, a wait was over, or one that had passed was not seen yet. The start of an
 * attempt tells nothing where something else ended at that time: it may have waited for its place.
 */
function wakesOf(call: PlannedCall, freed: ReadonlySet<number>): readonly Wake[] {
  const { arrivedAt, attempts, end, limits } = call;
  const wakes: Wake[] = [];
  let freeSince = arrivedAt;
  let waitsUntil: number | undefined = undefined;
  for (const { startedAt, endedAt, end: how, failure, delayMs } of attempts.values()) {
    const isWoken = startedAt > freeSince && !freed.has(startedAt);
    if (isWoken) wakes.push({ at: startedAt, due: undefined });
    // Something else kept it back when its wait was over.
    if (waitsUntil !== undefined && (!isWoken || startedAt > waitsUntil + latestMs))
      wakes.push({ at: waitsUntil, due: waitsUntil, isInTime: true });
    const isAnswer = how === 'answered' || how === 'threw';
    const due = Math.min(startedAt + limits.attemptMs, arrivedAt + limits.overallMs);
    const hadPassed = endedAt >= Math.min(due, startedAt + limits.idleMs);
    if (how === 'limit') wakes.push({ at: endedAt, due: dueOf(call, startedAt, failure?.reason) });
    else if (isAnswer && hadPassed) wakes.push({ at: endedAt + behindMs, due });
    freeSince = endedAt;
    // Waits end at whole ms.
    waitsUntil = typeof delayMs === 'number' ? Math.ceil(endedAt + delayMs) : undefined;
  }
  if (waitsUntil !== undefined && (end === undefined || end.at > waitsUntil + latestMs))
    wakes.push({ at: waitsUntil, due: waitsUntil, isInTime: true });
  // A call that ended with the attempt of another one waited for something that came of that: a circuit that opened, a place.
  if (end !== undefined && end.at > freeSince && !freed.has(end.at))
    wakes.push({ at: end.at, due: dueOf(call, freeSince, end.failure.reason) });
  return wakes;
}

/** Finds when a limit was due that ended an attempt or a call. Signs of life put off that on silence, and are not on record. */
function dueOf({ arrivedAt, limits }: PlannedCall, startedAt: number, reason: string | undefined): number | undefined {
  if (reason === 'attempt_timeout') return startedAt + limits.attemptMs;
  return reason === 'overall_timeout' ? arrivedAt + limits.overallMs : undefined;
}

/** Finds when attempts ended, or their work: what waited for a place may have gone on. */
function freedBy({ calls, probes }: IntegrationPlan): ReadonlySet<number> {
  const attempts = [...calls, ...probes].flatMap((call) => [...call.attempts.values()]);
  return new Set(attempts.flatMap(({ endedAt, workEndedAt = endedAt }) => [endedAt, workEndedAt]));
}
