import { fileURLToPath } from 'node:url';
import { type CommandLine, inNewHome, memoryOf, unwedge, withCpu } from '../cli/processes.ts';
import { inTurns, median, shareOf } from '../harness/statistics.ts';
import { type Case, defineSuite, ownTarget } from '../harness/suite.ts';
import { type PlainAcpClient, connectAcp } from './client.ts';

const updates = '1,000 updates a second';
const request = 'a request, one at a time';
const prompts = 'a prompt without updates, one at a time';
const stream = '200 kB of text a second';
const flood = '20,000 updates at once';
const start = 'time to the first session';
const memory = '200,000 updates';

const program = (path: string): CommandLine => [process.execPath, fileURLToPath(new URL(path, import.meta.url))];
const agent = program('./agent.js');
const piped: CommandLine = [...program('../mcp/plainRelay.js'), ...agent];
const own = (): CommandLine => unwedge('acp', '--name', 'bench', '--', ...agent);

/** Makes a command line; it is built when it is first asked for. */
type Reach = () => CommandLine;

/** Rounds in which both take turns, so that what disturbs the machine disturbs both. */
const turns = 10;

/** Costs of an agent behind `unwedge acp`, against a pipe. */
export const acpSuite = defineSuite({
  name: 'acp',
  about:
    'What `unwedge acp` costs in front of an agent that does next to nothing, seen by a client that does next to nothing. Each run has two connections, and ' +
    'takes turns between its own and one through a Node program of ten lines that pipes both ways; `added` and `share` are of these turns.',
  baseline: 'pipe',
  subjects: [
    {
      name: 'pipe',
      about: 'a Node program of ten lines in between, which pipes both ways',
      cases: controls(),
    },
    {
      name: 'unwedge',
      about: 'the built `unwedge acp`, with a store of its own',
      cases: { ...casesOf(own), [memory]: peakMemory() },
    },
  ],
  targets: [
    ownTarget('added time of an update, p50, in µs', updates, 'added p50', { atMost: 60 }),
    ownTarget('added time of a request, p50, in µs', request, 'added p50', { atMost: 60 }),
    ownTarget('throughput of 200 kB of text a second, against the pipe', stream, 'share of pipe', { atLeast: 0.85 }),
    ownTarget('throughput of 20,000 updates at once, against the pipe', flood, 'share of pipe', { atLeast: 0.85 }),
    ownTarget('added time to the first session, in ms', start, 'added', { atMost: 150 }),
    ownTarget('peak memory, in bytes', memory, 'peak memory', { atMost: 70_000_000 }),
  ],
});

/** The pipe against itself: how much of a share, or of an added time, is noise. */
function controls(): Record<string, Case> {
  const all = casesOf(() => piped);
  return Object.fromEntries(Object.entries(all).filter(([name]) => [updates, request, flood].includes(name)));
}

function casesOf(command: Reach): Record<string, Case> {
  return {
    [updates]: added(command, (client) => client.prompt(200, 1)),
    [request]: added(command, (client) => timesOf(() => client.ask())),
    [prompts]: added(command, (client) => timesOf(() => client.prompt(0))),
    [stream]: throughput(command, 2000, (client) => client.prompt(2000, 1, 4)),
    [flood]: throughput(command, 20_000, (client) => client.prompt(20_000)),
    [start]: starting(command),
  };
}

function added(command: Reach, work: (client: PlainAcpClient) => Promise<readonly number[]>): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      sideBySide(command, async (ours, base) => {
        const samples = await inTurns(
          turns,
          () => work(ours),
          () => work(base),
        );
        const [own, other] = [median(samples.own.flat()), median(samples.base.flat())];
        probe.record('p50', own, 'µs');
        probe.record('added p50', own - other, 'µs');
      }),
  };
}

async function timesOf(work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let count = 0; count < 100; count++) {
    const begun = performance.now();
    await work();
    times.push((performance.now() - begun) * 1000);
  }
  return times;
}

type Talk = (client: PlainAcpClient) => Promise<readonly number[]>;

function throughput(command: Reach, count: number, talk: Talk): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      sideBySide(command, async (ours, base) => {
        const pids = { cpu: ours.pid, 'cpu of the pipe': base.pid };
        const rates = await withCpu(probe, pids, turns * count, () =>
          inTurns(
            turns,
            () => rateOf(ours, talk),
            () => rateOf(base, talk),
          ),
        );
        probe.record('updates', median(rates.own), '/s');
        probe.record('updates of the pipe', median(rates.base), '/s');
        probe.record('share of pipe', shareOf(rates), '');
      }),
  };
}

async function rateOf(client: PlainAcpClient, talk: Talk): Promise<number> {
  const begun = performance.now();
  const { length } = await talk(client);
  return (length / (performance.now() - begun)) * 1000;
}

function starting(command: Reach): Case {
  return {
    isolated: true,
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const times = await inTurns(
          turns,
          () => startOf(command(), env),
          () => startOf(piped, env),
        );
        probe.record('wall', median(times.own), 'ms');
        probe.record('added', median(times.own) - median(times.base), 'ms');
      }),
  };
}

async function startOf(command: CommandLine, env: NodeJS.ProcessEnv): Promise<number> {
  const begun = performance.now();
  const client = await connectAcp(command, env);
  const tookMs = performance.now() - begun;
  await client.close();
  return tookMs;
}

/** The most memory that the proxy held, in MB; Linux only. */
function peakMemory(): Case {
  return {
    once: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const client = await connectAcp(own(), env);
        for (let count = 0; count < 10; count++) await client.prompt(20_000);
        probe.record('peak memory', memoryOf(client.pid, 'VmHWM') ?? 0, 'B');
        await client.close();
      }),
  };
}

async function sideBySide(
  command: Reach,
  work: (ours: PlainAcpClient, base: PlainAcpClient) => Promise<void>,
): Promise<void> {
  await inNewHome(async (env) => {
    const base = await connectAcp(piped, env);
    const ours = await connectAcp(command(), env);
    for (const client of [base, ours]) {
      await client.prompt(20_000);
      for (let count = 0; count < 3000; count++) await client.ask();
    }
    await work(ours, base);
    await ours.close();
    await base.close();
  });
}
