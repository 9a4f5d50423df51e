import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';
import type { Crew } from './crew.ts';
import { answering } from './logic.ts';

const siblings = 999;
const culprit = 'culprit';
const sliceMs = 100;
const slices = 20;

/**
 * One of 1,000 children crashes 1,000 times a second while its siblings are asked from another thread, as requests come in
 * by I/O: one at a time, at random moments. Neighbours on the machine weigh more in a 99th percentile than a crash does. So
 * short quiet and crashing slices take turns, each has a percentile of its own, and the lower quartile of these is compared.
 */
export function storm(crewOf: () => Crew): Case {
  return {
    isolated: true,
    async measure(probe) {
      const crew = crewOf();
      for (let i = 0; i < siblings; i++) crew.start(`sibling-${i}`, answering);
      crew.keep(culprit, answering, () => {});
      const asker = new Worker(new URL('./asker.js', import.meta.url));
      asker.on('message', ({ ask }: { readonly ask?: number }) => {
        if (ask === undefined) return;
        crew.ref(`sibling-${ask}`)?.send({ type: 'ask', answered: () => asker.postMessage('answer') });
      });
      await once(asker, 'online');
      const quiet: (readonly number[])[] = [];
      const crashing: (readonly number[])[] = [];
      let crashes = 0;
      for (let slice = 0; slice < slices; slice++) {
        quiet.push(await asked(asker, sliceMs));
        const storming = crashEveryMs(crew);
        crashing.push(await asked(asker, sliceMs));
        crashes += storming.stop();
        // The last crash is still being mended.
        await delay(5);
      }
      await asker.terminate();
      probe.latencies('quiet', quiet.flat());
      probe.latencies('crashing', crashing.flat());
      probe.record('p99 crashing/quiet', leastDisturbedP99(crashing) / leastDisturbedP99(quiet), '');
      probe.record('crashes', (crashes / (slices * sliceMs)) * 1000, '/s');
      probe.record('restarts of siblings', crew.restartsWithout(culprit), '');
      await crew.stop();
    },
  };
}

function leastDisturbedP99(slicesUs: readonly (readonly number[])[]): number {
  return quantile(
    slicesUs.map((samplesUs) => quantile(samplesUs, 0.99)),
    0.25,
  );
}

/** Round trips in µs of the questions of one slice. */
async function asked(asker: Worker, forMs: number): Promise<readonly number[]> {
  asker.postMessage({ siblings, forMs });
  for (;;) {
    const [message] = (await once(asker, 'message')) as [{ readonly roundTripsUs?: readonly number[] }];
    if (message.roundTripsUs !== undefined) return message.roundTripsUs;
  }
}

/** Keeps the pace when a timer was late, by one crash more at each of the next; a burst would be another question. */
function crashEveryMs(crew: Crew): { readonly stop: () => number } {
  const start = performance.now();
  let crashes = 0;
  const crash = (): void => {
    if (crashes >= Math.floor(performance.now() - start)) return;
    crashes += 1;
    crew.ref(culprit)?.send({ type: 'crash' });
  };
  const timer = setInterval(() => {
    crash();
    // After the turn in which it is started again.
    setImmediate(() => setImmediate(crash));
  }, 1);
  return {
    stop() {
      clearInterval(timer);
      return crashes;
    },
  };
}
