import { type AlertRule, countsForAlerts } from '../policy/alerts.ts';
import type { CallFigures } from '../policy/records/callFigures.ts';
import { rateText } from '../policy/records/callReport.ts';
import { formatDuration } from '../policy/text/duration.ts';
import type { FailureKind } from '../policy/failures/failure.ts';

/** Parts of a window: what was counted leaves it a part at a time. */
const parts = 60;

interface Part {
  /** Time of its last figures, in monotonic ms. */
  at: number;
  readonly beganAt: number;
  succeeded: number;
  failed: Partial<Record<FailureKind, number>>;
}

/** A success rate that is below what its rule asks for. */
export interface LowRate {
  readonly failures: number;
  /** Kind of most of the failures. */
  readonly kind: FailureKind;
  readonly message: string;
}

/** Ends of the calls of an integration within the window of its alerts. Failures are those that count for alerts. */
export class RateWindow {
  #parts: Part[] = [];

  /** @param at - monotonic ms; no earlier than that of the figures before. */
  add({ succeeded, failed }: CallFigures, at: number, { windowMs }: AlertRule): void {
    const counted = Object.entries(failed).filter(([kind]) => countsForAlerts(kind as FailureKind));
    if (succeeded === 0 && counted.length === 0) return;
    let last = this.#parts.at(-1);
    if (last === undefined || at - last.beganAt >= windowMs / parts) {
      last = { at, beganAt: at, succeeded: 0, failed: {} };
      this.#parts.push(last);
    }
    last.at = at;
    last.succeeded += succeeded;
    for (const [kind, count] of counted as [FailureKind, number][])
      last.failed[kind] = (last.failed[kind] ?? 0) + count;
    this.#parts = this.#within(at, windowMs);
  }

  /** @param leastCalls - with fewer calls there is no rate. @returns undefined while the rate is not below that of the rule. */
  lowAt(now: number, { windowMs, successBelow }: AlertRule, leastCalls: number): LowRate | undefined {
    const failed = new Map<FailureKind, number>();
    let succeeded = 0;
    for (const part of this.#within(now, windowMs)) {
      succeeded += part.succeeded;
      for (const [kind, count] of Object.entries(part.failed) as [FailureKind, number][])
        failed.set(kind, (failed.get(kind) ?? 0) + count);
    }
    const failures = [...failed.values()].reduce((sum, count) => sum + count, 0);
    const calls = succeeded + failures;
    const [most] = [...failed].sort(([, one], [, other]) => other - one);
    if (most === undefined || calls < leastCalls) return undefined;
    const rate = succeeded / calls;
    if (rate >= successBelow) return undefined;
    const [kind] = most;
    const of = `of ${calls} calls within ${formatDuration(windowMs)}`;
    const said = `${lowRateText(rate, successBelow)} ${of}, below ${exactText(successBelow)}`;
    const message = `Success rate ${said}; most failed by ${kind}`;
    return { failures, kind, message };
  }

  /** Returns the time the last failure leaves the window, in monotonic ms; -Infinity without any. */
  failureFreeAt({ windowMs }: AlertRule): number {
    const last = this.#parts.findLast(({ failed }) => Object.keys(failed).length > 0);
    return last === undefined ? Number.NEGATIVE_INFINITY : last.at + windowMs;
  }

  #within(now: number, windowMs: number): Part[] {
    return this.#parts.filter(({ at }) => now - at < windowMs);
  }
}

/** With so many digits that it is seen to be below. */
function lowRateText(rate: number, below: number): string {
  return rateText(rate) === rateText(below) ? exactText(Math.floor(rate * 1e6) / 1e6) : rateText(rate);
}

/** As somebody has set it: `99.99 %`. */
function exactText(rate: number): string {
  return `${Number((rate * 100).toFixed(4))} %`;
}
