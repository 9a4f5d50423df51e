import { formatDuration } from './duration.ts';
import type { RateCapacity } from './rateLimit.ts';

/** A limit for people: `requests 50/min`. */
export function rateText({ of, limit, perMs }: RateCapacity & { readonly of: string }): string {
  const window = windows.find(([ms]) => Math.abs(perMs - ms) < 1)?.[1] ?? formatDuration(perMs);
  return `${of} ${Math.round(limit)}/${window}`;
}

/** Says what a call waits for, for people: `waits for its rate limit: 12s left (requests 50/min)`. */
export function rateWaitText(wait: RateCapacity & { readonly of: string; readonly waitMs: number }): string {
  return `waits for its rate limit: ${formatDuration(wait.waitMs)} left (${rateText(wait)})`;
}

const windows: readonly (readonly [number, string])[] = [
  [1000, 's'],
  [60_000, 'min'],
  [3_600_000, 'h'],
  [86_400_000, 'day'],
];
