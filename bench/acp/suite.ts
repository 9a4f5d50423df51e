import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CommandLine, inNewHome, unwedge } from '../cli/processes.ts';
import { median, quantile } from '../harness/statistics.ts';
import { type Case, defineSuite, type Target } from '../harness/suite.ts';
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
      cases: casesOf(() => piped),
    },
    {
      name: 'unwedge',
      about: 'the built `unwedge acp`, with a store of its own',
      cases: { ...casesOf(own), [memory]: memoryOf() },
    },
  ],
  targets: [
    target('added time of an update, p50, in µs', updates, 'added p50', { atMost: 60 }),
    target('added time of a request, p50, in µs', request, 'added p50', { atMost: 60 }),
    target('throughput of 200 kB of text a second, against the pipe', stream, 'share of pipe', { atLeast: 0.85 }),
    target('added time to the first session, in ms', start, 'added', { atMost: 150 }),
    target('peak memory, in bytes', memory, 'peak memory', { atMost: 70_000_000 }),
  ],
});

function casesOf(command: Reach): Record<string, Case> {
  return {
    [updates]: added(command, (client) => client.prompt(200, 1)),
    [request]: added(command, (client) => timesOf(() => client.ask())),
    [prompts]: added(command, (client) => timesOf(() => client.prompt(0))),
    [stream]: throughput(command, (client) => client.prompt(2000, 1, 4)),
    [flood]: throughput(command, (client) => client.prompt(20_000)),
    [start]: starting(command),
  };
}

function added(command: Reach, work: (client: PlainAcpClient) => Promise<readonly number[]>): Case {
  return {
    isolated: true,
    measure: (probe) =>
      sideBySide(command, async (ours, base) => {
        const samples = { ours: [] as number[], base: [] as number[] };
        for (let turn = 0; turn < turns; turn++) {
          samples.base.push(...(await work(base)));
          samples.ours.push(...(await work(ours)));
        }
        probe.record('p50', quantile(samples.ours, 0.5), 'µs');
        probe.record('added p50', quantile(samples.ours, 0.5) - quantile(samples.base, 0.5), 'µs');
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

function throughput(command: Reach, talk: Talk): Case {
  return {
    isolated: true,
    measure: (probe) =>
      sideBySide(command, async (ours, base) => {
        const rates: number[] = [];
        const shares: number[] = [];
        for (let turn = 0; turn < turns; turn++) {
          const against = await rateOf(base, talk);
          const rate = await rateOf(ours, talk);
          rates.push(rate);
          shares.push(rate / against);
        }
        probe.record('updates', median(rates), '/s');
        probe.record('share of pipe', median(shares), '');
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
    measure: (probe) =>
      inNewHome(async (env) => {
        const times = { ours: [] as number[], base: [] as number[] };
        for (let turn = 0; turn < turns; turn++) {
          times.base.push(await startOf(piped, env));
          times.ours.push(await startOf(command(), env));
        }
        probe.record('wall', median(times.ours), 'ms');
        probe.record('added', median(times.ours) - median(times.base), 'ms');
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
function memoryOf(): Case {
  return {
    measure: (probe) =>
      inNewHome(async (env) => {
        const client = await connectAcp(own(), env);
        for (let count = 0; count < 10; count++) await client.prompt(20_000);
        const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${client.pid}/status`, 'latin1'))?.[1];
        probe.record('peak memory', Number(peak) * 1024, 'B');
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

function target(
  says: string,
  of: string,
  metric: string,
  limit: { readonly atMost: number } | { readonly atLeast: number },
): Target {
  return { says, of: { subject: 'unwedge', case: of, metric }, by: 'median', ...limit };
}
