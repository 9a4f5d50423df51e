import { systemClock } from '../../src/index.ts';

/** Result of {@link within} when the time is up. */
export const overdue = Symbol('overdue');

/** Waits so many ms, or until the signal. Never rejects. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      systemClock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = systemClock.setTimeout(end, delayMs, { ref: true });
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Returns the value of the promise, or {@link overdue} after so many ms. Rejects as the promise does. */
export async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | typeof overdue> {
  const done = new AbortController();
  try {
    return await Promise.race([promise, pause(limitMs, done.signal).then((): typeof overdue => overdue)]);
  } finally {
    done.abort();
  }
}
