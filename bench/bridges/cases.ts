import { inNewHome, memoryOf, withCpu } from '../cli/processes.ts';
import { inTurns, median, shareOf } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';
import type { EchoClient } from '../mcp/client.ts';

/** Starts a bridge and connects to it; `env` has a home and a database of its own. */
export type Connect = (env: NodeJS.ProcessEnv) => Promise<EchoClient>;

/** Calls that are on their way all the time. */
export const inFlight = 32;
const turns = 8;
const callsOfTurn = 2000;
const alone = 100;

/** A bridge that takes turns with a bare one: calls a second and their share of the bare one's, the latency of one at a time, and the memory that it holds then. */
export function bridged(own: Connect, bare: Connect): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const base = await bare(env);
        const client = await own(env);
        for (const each of [base, client]) await callsPerSecond(each, callsOfTurn);
        const turnOf = async (each: EchoClient) => ({
          rate: await callsPerSecond(each, callsOfTurn),
          latencies: await latencies(each),
        });
        const pids = { cpu: client.pid, 'cpu of bare': base.pid };
        const { own: ours, base: bares } = await withCpu(probe, pids, turns * (callsOfTurn + alone), () =>
          inTurns(
            turns,
            () => turnOf(client),
            () => turnOf(base),
          ),
        );
        const rates = { own: ours.map(({ rate }) => rate), base: bares.map(({ rate }) => rate) };
        probe.record('calls', median(rates.own), '/s');
        probe.record('calls of bare', median(rates.base), '/s');
        probe.record('share of bare', shareOf(rates), '');
        const [p50 = 0, bareP50 = 1] = [ours, bares].map((each) => median(each.flatMap(({ latencies: all }) => all)));
        probe.record('one at a time, p50', p50, 'µs');
        probe.record('one at a time, p50, times bare', p50 / bareP50, '');
        const held = memoryOf(client.pid, 'VmRSS');
        if (held !== undefined) probe.record('memory', held, 'B');
        await client.close();
        await base.close();
      }),
  };
}

async function callsPerSecond(client: EchoClient, count: number): Promise<number> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await client.call('echo', { text: 'hello' });
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  return (count / (performance.now() - start)) * 1000;
}

async function latencies(client: EchoClient): Promise<number[]> {
  const samples: number[] = [];
  for (let call = 0; call < alone; call++) {
    const start = performance.now();
    await client.call('echo', { text: 'hello' });
    samples.push((performance.now() - start) * 1000);
  }
  return samples;
}
