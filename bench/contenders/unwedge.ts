import { createGateway } from '../../src/gateway/gateway.ts';
import { type Contender, policy } from './contender.ts';

/** A function integration of a gateway in memory, to whose events nobody has subscribed. Idle and overall limits as by default. */
export const unwedge: Contender = {
  name: 'unwedge',
  about: 'call() of an integration: retry, breaker, idle, attempt and overall limit, abort',
  dear: 0,
  hasSignal: true,
  takesSignal: true,
  async start({ work, readsSignal, waitMs, neverOpens }) {
    const gateway = createGateway();
    const { maxAttempts, attemptMs, backoffMs, maxBackoffMs, failuresInRow } = policy;
    const breaker =
      neverOpens === true
        ? { consecutiveFailures: 1e9, minimumAttempts: 50_000, windowSize: 50_000 }
        : { consecutiveFailures: failuresInRow };
    const integration = gateway.integration<number, number>(
      'work',
      {
        policy: {
          limits: { attemptMs },
          retry: {
            maxAttempts,
            backoff:
              waitMs === undefined
                ? { initialMs: backoffMs, maxMs: maxBackoffMs, jitter: { kind: 'none' } }
                : { kind: 'constant', delayMs: waitMs },
          },
          breaker,
          maxInFlight: 100_000,
        },
      },
      readsSignal === true ? (input, { signal }) => work(input, signal) : (input) => work(input),
    );
    await gateway.start();
    return {
      call: (input, signal) => integration.call(input, signal === undefined ? undefined : { signal }),
      stop: () => gateway.stop(),
    };
  },
};
