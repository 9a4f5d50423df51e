import { readFileSync } from 'node:fs';
import { inNewHome } from '../cli/processes.ts';
import { median, quantile } from '../harness/statistics.ts';
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
    measure: (probe) =>
      inNewHome(async (env) => {
        const base = await bare(env);
        const client = await own(env);
        for (const each of [base, client]) await callsPerSecond(each, callsOfTurn);
        const rates: number[] = [];
        const shares: number[] = [];
        const latency = { own: [] as number[], base: [] as number[] };
        for (let turn = 0; turn < turns; turn++) {
          const against = await callsPerSecond(base, callsOfTurn);
          const rate = await callsPerSecond(client, callsOfTurn);
          rates.push(rate);
          shares.push(rate / against);
          latency.base.push(...(await latencies(base)));
          latency.own.push(...(await latencies(client)));
        }
        probe.record('calls', median(rates), '/s');
        probe.record('share of bare', median(shares), '');
        probe.record('one at a time, p50', quantile(latency.own, 0.5), 'µs');
        probe.record('one at a time, p50, times bare', quantile(latency.own, 0.5) / quantile(latency.base, 0.5), '');
        const held = memoryOf(client.pid);
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

/** The memory that a process holds, in bytes; undefined where the system does not say. */
function memoryOf(pid: number): number | undefined {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024;
  } catch {
    return undefined;
  }
}
