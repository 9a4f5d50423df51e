import type { AlertCause } from '../policy/facts/alertFacts.ts';
import type { AlertRule } from '../policy/alerts.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { LowRate, RateWindow } from './rateWindow.ts';

/** An alert of ours that is open. Times are monotonic. */
export interface Episode {
  id: string;
  readonly because: AlertCause;
  failures: number;
  crashes: number;
  readonly raisedAt: number;
  lastAt: number;
  /** Calls that the integration had refused when it was last looked. */
  refused: number;
  /** Time at which it was last seen that calls were refused, which cannot fail. */
  refusedAt: number;
  /** Settled once it is known whose it is. */
  raised: Promise<void>;
  /** True where the alert is on record; one that the store did not take is ours alone. */
  recorded: boolean;
}

/** An integration whose failures and crashes are watched. */
export interface Watched {
  readonly integration: string;
  /** Times of the failures that count, while no alert is open. */
  failures: readonly number[];
  /** Times of the crashes that count, always: a server that keeps crashing closes its circuit with every restart. */
  crashes: readonly number[];
  /** Window of how its calls ended, where its rule asks for a success rate. */
  rate: RateWindow | undefined;
  episode: Episode | undefined;
  timer: Timer | undefined;
}

/** An episode that a rate began goes on however few calls there are; another one is not prolonged by fewer than would have begun one. */
export function lowRate({ rate, episode }: Watched, rule: AlertRule, now: number): LowRate | undefined {
  return rate?.lowAt(now, rule, episode?.because === 'rate' ? 1 : rule.minCalls);
}

/** Wall time on our own clock; the future is a wall clock that has stepped back. */
export function ownTime(clock: Clock, at: number): number {
  return clock.now() - Math.max(0, clock.wallNow() - at);
}
