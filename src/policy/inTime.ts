import type { Clock } from './clock.ts';

/** Limits of a wait. */
interface Wait {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly signal?: AbortSignal | undefined;
  /** In ms; 0 or less: not at all. @defaultValue until the signal aborts */
  readonly limitMs?: number | undefined;
  /** Counts only time in which the event loop ran. @defaultValue false */
  readonly running?: boolean | undefined;
}

/** Gives what a promise gives, or undefined when the signal aborts or the limit passes before. Rejects as it does. */
export async function inTime<T>(
  promise: Promise<T>,
  { clock, signal, limitMs, running }: Wait,
): Promise<T | undefined> {
  let giveUp: () => void = () => undefined;
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  const isLimited = limitMs !== undefined && limitMs !== Number.POSITIVE_INFINITY;
  const timer = isLimited ? clock.setTimeout(giveUp, Math.max(0, limitMs), { ref: true, running }) : undefined;
  try {
    return await Promise.race([promise, late]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    clock.clearTimeout(timer);
  }
}
