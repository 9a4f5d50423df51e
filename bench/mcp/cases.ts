import { inNewHome, memoryOf, withCpu } from '../cli/processes.ts';
import { median, quantile, shareOf } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';
import type { EchoClient } from './client.ts';

/** Starts a connection; `env` has a home and a database of its own. */
export type Connect = (env: NodeJS.ProcessEnv) => Promise<EchoClient>;

/** Two ways to the same server, and a tool of it that gives back what it is given. */
export interface Ways {
  readonly own: Connect;
  readonly direct: Connect;
  readonly echo: (client: EchoClient) => Promise<unknown>;
}

/** How many take turns with the direct connection, so that what disturbs the machine disturbs both. */
const turns = 10;
const callsOfTurn = 2000;
const alone = 100;

/** One call after the other. Records its latency, and how much more that is than over the direct connection meanwhile. */
export function oneAtATime(ways: Ways): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      sideBySide(ways, async (own, base) => {
        const samples = { own: [] as number[], base: [] as number[] };
        for (let turn = 0; turn < turns; turn++) {
          samples.base.push(...(await latencies(base, ways, alone)));
          samples.own.push(...(await latencies(own, ways, alone)));
        }
        probe.latencies('latency', samples.own);
        for (const [name, q] of [
          ['p50', 0.5],
          ['p99', 0.99],
        ] as const) {
          probe.record(`added ${name}`, quantile(samples.own, q) - quantile(samples.base, q), 'µs');
        }
      }),
  };
}

/**
 * Three ways to one server, in turns: calls a second with so many on their way, as a share of those through a pipe, and how much longer one call takes at p50
 * than directly, in times of what the pipe adds.
 */
export function againstPipe(ways: Ways, pipe: Connect, inFlight: number): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const clients: EchoClient[] = [];
        for (const connect of [ways.own, pipe, ways.direct]) clients.push(await connect(env));
        for (const client of clients) await callMany(client, ways.echo, 10_000, inFlight);
        const rates = clients.map((): number[] => []);
        const samples = clients.map((): number[] => []);
        const pids = { cpu: clients[0]?.pid ?? 0, 'cpu of the pipe': clients[1]?.pid ?? 0 };
        await withCpu(probe, pids, turns * (callsOfTurn + alone), async () => {
          for (let turn = 0; turn < turns; turn++) {
            for (const [at, client] of clients.entries()) {
              rates[at]?.push(await callsPerSecond(client, ways, inFlight));
              samples[at]?.push(...(await latencies(client, ways, alone)));
            }
          }
        });
        const [ours = [], pipes = []] = rates;
        const [own = 0, piped = 0, direct = 0] = samples.map((each) => quantile(each, 0.5));
        probe.record('calls', median(ours), '/s');
        probe.record('calls of the pipe', median(pipes), '/s');
        probe.record('share of the pipe', shareOf({ own: ours, base: pipes }), '');
        probe.record('added p50, times that of the pipe', (own - direct) / (piped - direct), '');
        for (const client of clients) await client.close();
      }),
  };
}

async function latencies(client: EchoClient, { echo }: Ways, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let call = 0; call < count; call++) {
    const start = performance.now();
    await echo(client);
    samples.push((performance.now() - start) * 1000);
  }
  return samples;
}

/** With so many calls on their way all the time. Records calls a second, and which share that is of the direct connection's. */
export function manyInFlight(ways: Ways, inFlight: number, calls = callsOfTurn): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      sideBySide(ways, async (own, base) => {
        const rates: number[] = [];
        const shares: number[] = [];
        for (let turn = 0; turn < turns; turn++) {
          const against = await callsPerSecond(base, ways, inFlight, calls);
          const rate = await callsPerSecond(own, ways, inFlight, calls);
          rates.push(rate);
          shares.push(rate / against);
        }
        probe.record('calls', median(rates), '/s');
        probe.record('share of direct', median(shares), '');
      }),
  };
}

async function callsPerSecond(
  client: EchoClient,
  { echo }: Ways,
  inFlight: number,
  calls = callsOfTurn,
): Promise<number> {
  const start = performance.now();
  await callMany(client, echo, calls, inFlight);
  return (calls / (performance.now() - start)) * 1000;
}

async function callMany(client: EchoClient, echo: Ways['echo'], count: number, inFlight: number): Promise<void> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await echo(client);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}

/** An answer of so many bytes. Records the time to its end. */
export function largeResult(ways: Ways, bytes: number): Case {
  return compare(ways, async (client) => {
    const characters = await client.call('large', { count: bytes });
    if (characters < bytes) throw new Error(`${characters} of ${bytes} characters came`);
  });
}

/** A call that tells of so many steps. Records the time to its answer, and how many of them came before it. */
export function manyNotifications(ways: Ways, count: number): Case {
  return compare(ways, async (client) => {
    const before = client.notifications();
    await client.call('steps', { count });
    return { came: client.notifications() - before };
  });
}

/** Records what `work` counts too, at its least. */
function compare(ways: Ways, work: (client: EchoClient) => Promise<Readonly<Record<string, number>> | void>): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      sideBySide(ways, async (own, base) => {
        const times = { own: [] as number[], base: [] as number[] };
        const counts = new Map<string, number>();
        for (let turn = 0; turn < turns; turn++) {
          times.base.push(await timeOf(() => work(base)));
          times.own.push(
            await timeOf(async () => {
              for (const [name, value] of Object.entries((await work(own)) ?? {})) {
                counts.set(name, Math.min(value, counts.get(name) ?? value));
              }
            }),
          );
        }
        probe.record('wall', median(times.own), 'ms');
        probe.record('times direct', median(times.own) / median(times.base), '');
        for (const [name, value] of counts) probe.record(name, value, '');
      }),
  };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Starts before those that count: a proxy keeps of the first what it answers the next ones by. */
const firstStarts = 2;
/** Starts that count. */
const starts = 6;

/** From the start of the process to the answer to `initialize`. Records the middle one, and how many times that of the server alone it is. */
export function toInitialize({ own, direct }: Pick<Ways, 'own' | 'direct'>): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const start = async (connect: Connect): Promise<number> => {
          const begun = performance.now();
          const client = await connect(env);
          const tookMs = performance.now() - begun;
          await client.close();
          return tookMs;
        };
        for (let turn = 0; turn < firstStarts; turn++) for (const connect of [direct, own]) await start(connect);
        const times = { own: [] as number[], base: [] as number[] };
        for (let turn = 0; turn < starts; turn++) {
          times.base.push(await start(direct));
          times.own.push(await start(own));
        }
        probe.record('wall', median(times.own), 'ms');
        probe.record('times direct', median(times.own) / median(times.base), '');
      }),
  };
}

/**
 * So many calls, after as many in which the heap grows to its working size. Records the most memory the process held before
 * them and after them; Linux only.
 */
export function peakMemory({ own, echo }: Ways, calls: number, inFlight: number): Case {
  return {
    long: true,
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const client = await own(env);
        await callMany(client, echo, calls, inFlight);
        const before = memoryOf(client.pid, 'VmHWM');
        await callMany(client, echo, calls, inFlight);
        const after = memoryOf(client.pid, 'VmHWM');
        await client.close();
        if (before === undefined || after === undefined) return;
        probe.record('peak memory', after, 'B');
        probe.record('peak memory, after/before', after / before, '');
      }),
  };
}

/** Both connections, warm; the direct one may be compared with itself. */
async function sideBySide(
  { own: connect, direct, echo }: Ways,
  work: (own: EchoClient, base: EchoClient) => Promise<void>,
): Promise<void> {
  await inNewHome(async (env) => {
    const base = await direct(env);
    const own = await connect(env);
    for (const client of [base, own]) await callMany(client, echo, 1000, 8);
    await work(own, base);
    await own.close();
    await base.close();
  });
}
