import { loadPeer } from '../peers/load.ts';
import type { EffectPackage } from '../peers/types.ts';
import { type Contender, policy } from './contender.ts';

/** Effect has retry, timeout and interruption, but no breaker. */
export async function loadEffect(): Promise<Contender | undefined> {
  const peer = await loadPeer<EffectPackage>('effect');
  if (peer === undefined) return undefined;
  const { Effect, Schedule } = peer;
  const { maxAttempts, attemptMs, backoffMs } = policy;
  return {
    name: 'effect',
    about: 'runPromise() of effect 4: retry(timeout(tryPromise)); no breaker',
    dear: 1,
    hasSignal: true,
    takesSignal: true,
    start({ work, readsSignal, waitMs }) {
      const schedule = waitMs === undefined ? Schedule.exponential(backoffMs) : Schedule.spaced(waitMs);
      const options = { times: maxAttempts - 1, schedule };
      return {
        call(input, signal) {
          // A function without a parameter spares it the controller.
          const step = Effect.tryPromise(readsSignal === true ? (own) => work(input, own) : () => work(input));
          const effect = Effect.retry(Effect.timeout(step, attemptMs), options);
          return Effect.runPromise(effect, signal === undefined ? undefined : { signal });
        },
        stop() {},
      };
    },
  };
}
