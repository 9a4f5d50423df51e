import { loadPeer } from '../peers/load.ts';
import type { PRetry, PTimeout } from '../peers/types.ts';
import { type Contender, policy } from './contender.ts';

/** The two packages together: no breaker, and no signal for the work but what one makes by hand. */
export async function loadPRetry(): Promise<Contender | undefined> {
  const [retry, timeout] = [await loadPeer<PRetry>('p-retry'), await loadPeer<PTimeout>('p-timeout')];
  if (retry === undefined || timeout === undefined) return undefined;
  const { maxAttempts, attemptMs: milliseconds, backoffMs } = policy;
  return {
    name: 'p-retry',
    about: 'p-retry 9 around p-timeout 8, and a controller by hand where the work reads a signal; no breaker',
    dear: 1,
    hasSignal: true,
    takesSignal: true,
    start({ work, readsSignal, waitMs }) {
      const options =
        waitMs === undefined
          ? { retries: maxAttempts - 1, minTimeout: backoffMs, factor: 2 }
          : { retries: maxAttempts - 1, minTimeout: waitMs, factor: 1 };
      const attempt =
        readsSignal === true
          ? (input: number) => () => {
              const controller = new AbortController();
              return timeout.default(work(input, controller.signal), { milliseconds }).catch((error: unknown) => {
                controller.abort(error);
                throw error;
              });
            }
          : (input: number, signal?: AbortSignal) => () => timeout.default(work(input), { milliseconds, signal });
      return {
        call: (input, signal) =>
          retry.default(attempt(input, signal), signal === undefined ? options : { ...options, signal }),
        stop() {},
      };
    },
  };
}
