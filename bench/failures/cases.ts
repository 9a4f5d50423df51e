import { createGateway } from '../../src/gateway/gateway.ts';
import type { Contender, Running, Work } from '../contenders/contender.ts';
import type { Case } from '../harness/suite.ts';

/** Rounds of calls that wait for their second attempt together; and those before the first that counts, of ten calls each. */
const rounds = 300;
const roundsBefore = 1000;
/**
 * Contenders whose code is compiled: as in `calls`, all are measured warm. Kept, idle, as what a process has lives on: V8 drops the code for objects of
 * which a collection finds none.
 */
const warm = new Map<string, Running>();
const waitMs = 1;

// Made once: a stack costs as much as all the rest, and nobody could do anything about it.
const failure = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });

/**
 * Calls that fail once and succeed at the second attempt, 1 ms later. Only CPU time is recorded, as the wait is the same for all.
 * @param together - so many at a time; the retry budget of ours lets a few more than 10.
 */
export function failsOnce(contender: Contender, together: number): Case {
  return {
    async measure(probe) {
      const failed = new Set<number>();
      const work: Work = async (input) => {
        if (failed.delete(input)) return input;
        failed.add(input);
        throw failure;
      };
      const start = () => contender.start({ work, waitMs, neverOpens: true });
      if (!warm.has(contender.name)) {
        const first = await start();
        for (let round = 0; round < roundsBefore; round++) await callTogether(first, 10);
        warm.set(contender.name, first);
      }
      const running = await start();
      const before = process.cpuUsage();
      for (let round = 0; round < rounds; round++) await callTogether(running, together);
      const { user, system } = process.cpuUsage(before);
      probe.record('call cpu', (user + system) / rounds / together, 'µs');
      if (failed.size > 0) throw new Error(`${failed.size} calls were not tried again`);
      await running.stop();
    },
  };
}

async function callTogether(running: Running, together: number): Promise<void> {
  await Promise.all(Array.from({ length: together }, (_, input) => running.call(input)));
}

/** As one writes it by hand. */
export const byHand: Contender = {
  name: 'by hand',
  about: 'try, a wait of 1 ms by setTimeout(), and once more',
  dear: 0,
  hasSignal: false,
  takesSignal: false,
  start({ work }) {
    return {
      async call(input) {
        try {
          return await work(input);
        } catch {
          await new Promise((resolve) => {
            setTimeout(resolve, waitMs);
          });
          return work(input);
        }
      },
      stop() {},
    };
  },
};

const finalFailures = 10_000;

/** Calls of which nine in ten fail for good, with a window of the breaker that is full and never opens it. */
export function failsForGood(windowSize: number): Case {
  return {
    async measure(probe) {
      const gateway = createGateway();
      const integration = gateway.integration(
        'work',
        {
          policy: {
            retry: { maxAttempts: 1 },
            breaker: { windowSize, minimumAttempts: windowSize, failureRatio: 1, consecutiveFailures: 1e9 },
          },
        },
        async (fails: boolean) => {
          if (fails) throw failure;
          return 0;
        },
      );
      await gateway.start();
      for (let call = 0; call < 4 * finalFailures; call++) await integration.call(call % 10 !== 0);
      for (let call = 0; call < windowSize; call++) await integration.call(false);
      await probe.time('call', finalFailures, async () => {
        for (let call = 0; call < finalFailures; call++) await integration.call(call % 10 !== 0);
      });
      const { state } = integration.breaker;
      await gateway.stop();
      if (state !== 'closed') throw new Error(`The circuit is ${state}`);
    },
  };
}
