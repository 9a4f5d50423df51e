import { Agent, request } from 'node:http';
import type { Case } from '../harness/suite.ts';
import { quantile } from '../harness/statistics.ts';
import { bare, inServers, type Way } from './ways.ts';

/** As a client sends it at its first turn. */
const body = JSON.stringify({
  model: 'bench',
  stream: true,
  messages: [{ role: 'user', content: 'x'.repeat(48_000) }],
});
const warmUp = 50;
const requests = 400;
const events = 100_000;
const turns = 6;

const beside = (way: Way, work: (url: string, bareUrl: string) => Promise<void>): Promise<void> =>
  inServers([way, bare], (_, [own, other]) => work(own?.url ?? '', other?.url ?? ''));

/** From the request to the first byte of its body; taken in turns with a bare proxy. */
export function firstByte(way: Way): Case {
  return {
    once: true,
    measure: (probe) =>
      beside(way, async (url, bareUrl) => {
        const ours: number[] = [];
        const theirs: number[] = [];
        for (let count = 0; count < warmUp + requests; count++) {
          const [own, other] = [(await ask(url, 1)).firstByteMs, (await ask(bareUrl, 1)).firstByteMs];
          if (count < warmUp) continue;
          ours.push(own);
          theirs.push(other);
        }
        probe.record('first byte', quantile(ours, 0.5), 'ms');
        probe.record('added', quantile(ours, 0.5) - quantile(theirs, 0.5), 'ms');
      }),
  };
}

/** One stream as fast as it goes; taken in turns with a bare proxy. */
export function throughput(way: Way): Case {
  return {
    once: true,
    measure: (probe) =>
      beside(way, async (url, bareUrl) => {
        const shares: number[] = [];
        let best = 0;
        for (let turn = 0; turn <= turns; turn++) {
          const rateOf = async (to: string): Promise<number> => events / (await ask(to, events)).elapsedMs;
          // Whoever comes second finds the upstream warmer.
          const isFirst = turn % 2 === 0;
          const before = isFirst ? undefined : await rateOf(bareUrl);
          const own = await rateOf(url);
          const other = before ?? (await rateOf(bareUrl));
          if (turn === 0) continue;
          shares.push(own / other);
          best = Math.max(best, own);
        }
        probe.record('events', best * 1000, '/s');
        probe.record('share', quantile(shares, 0.5), '');
      }),
  };
}

const agent = new Agent({ keepAlive: true });

function ask(url: string, count: number): Promise<{ readonly firstByteMs: number; readonly elapsedMs: number }> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let firstByteMs: number | undefined;
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}/v1/messages?events=${count}`, { method: 'POST', agent, headers }, (answer) => {
      answer.on('data', () => {
        firstByteMs ??= performance.now() - startedAt;
      });
      answer.on('end', () => resolve({ firstByteMs: firstByteMs ?? 0, elapsedMs: performance.now() - startedAt }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
