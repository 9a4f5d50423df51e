import { memoryOf, withCpu } from '../cli/processes.ts';
import type { Case } from '../harness/suite.ts';
import { inTurns, median, quantile, shareOf } from '../harness/statistics.ts';
import { connectRaw, type RawClient, rawRequest } from './rawClient.ts';
import { bare, inServers, type Running, type Way } from './ways.ts';

const bodyOf = (events: number): string =>
  JSON.stringify({
    model: `bench-${events}`,
    max_tokens: 1024,
    stream: events > 0,
    messages: [{ role: 'user', content: 'x'.repeat(2000) }],
  });

/** Number that take turns, so that what disturbs the machine disturbs all. */
const turns = 10;
const requestsOfTurn = 600;

/** Clients of a way, and what they ask. */
interface Asking {
  readonly clients: readonly RawClient[];
  readonly request: Buffer;
}

/** So many requests under way all the time, answered by so many events, or by one object where those are 0. Records how many are answered in a second, that as a share of what a bare proxy does in the same turns, and the most memory held. */
export function atOnce(way: Way, count: number, events: number): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inServers([way, bare], async (_, proxies) => {
        const [own, other] = await Promise.all(proxies.map((proxy) => asking(proxy, events, count)));
        if (own === undefined || other === undefined) return;
        for (const warm of [own, other]) await rateOf(warm, 3000);
        const [pid = 0, barePid = 0] = proxies.map((proxy) => proxy.pid);
        const rates = await withCpu(probe, { cpu: pid, 'cpu of bare': barePid }, turns * requestsOfTurn, () =>
          inTurns(
            turns,
            () => rateOf(own, requestsOfTurn),
            () => rateOf(other, requestsOfTurn),
          ),
        );
        probe.record('requests', median(rates.own), '/s');
        probe.record('requests of bare', median(rates.base), '/s');
        probe.record('share of bare', shareOf(rates), '');
        probe.record('peak memory', memoryOf(pid, 'VmHWM') ?? 0, 'B');
        for (const { clients } of [own, other]) for (const client of clients) client.close();
      }),
  };
}

/** Measures one answer of so many events, or one object, after the other, beside the upstream itself and a bare proxy. Records its time, what is added, and both as multiples of bare's. */
export function oneByOne(way: Way, events: number): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inServers([way, bare], async (url, proxies) => {
        const ways = [{ url, headers: {} }, ...proxies];
        const asked = await Promise.all(ways.map((each) => asking(each, events, 1)));
        const times: number[][] = [[], [], []];
        const each = events > 1 ? 20 : 100;
        for (let turn = 0; turn <= turns; turn++) {
          for (const [index, { clients, request }] of asked.entries()) {
            for (let count = 0; count < each; count++) {
              const tookMs = (await clients[0]?.ask(request)) ?? 0;
              if (turn > 0) times[index]?.push(tookMs * 1000);
            }
          }
        }
        const [direct = 0, own = 0, base = 0] = times.map((samples) => quantile(samples, 0.5));
        probe.record('p50', own, 'µs');
        probe.record('added p50', own - direct, 'µs');
        probe.record('added, times bare', (own - direct) / (base - direct), '');
        probe.record('times bare', own / base, '');
        for (const { clients } of asked) for (const client of clients) client.close();
      }),
  };
}

async function asking(
  { url, headers }: Pick<Running, 'url' | 'headers'>,
  events: number,
  count: number,
): Promise<Asking> {
  const clients = Array.from({ length: count }, () => connectRaw(url));
  const request = rawRequest(`${url}/v1/chat/completions`, headers, bodyOf(events));
  return { clients: await Promise.all(clients), request };
}

/** Requests that are answered in a second. */
async function rateOf({ clients, request }: Asking, requests: number): Promise<number> {
  const startedAt = performance.now();
  let left = requests;
  const caller = async (client: RawClient): Promise<void> => {
    while (left-- > 0) await client.ask(request);
  };
  await Promise.all(clients.map(caller));
  return (requests / (performance.now() - startedAt)) * 1000;
}
