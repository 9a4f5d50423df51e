import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeClient, judgeServer, type Report } from './suite.ts';
import { startFront, type Way } from './ways.ts';

/** What a server does to itself: dies, stands still for 700 ms, for good, says 3,000 messages nobody asked for, or loses its connection. */
export const faults = ['kill', 'stop', 'hang', 'flood', 'cut'] as const;
export type Fault = (typeof faults)[number];

/** One run of the suite, with the same fault at the same boundary of each of its scenarios. */
export interface Round {
  readonly way: Way;
  readonly fault: Fault | 'none';
  /** Which boundary, from 1. */
  readonly at: number;
  readonly scenario?: string | undefined;
  /** Whether all tools say that they only read. @defaultValue false */
  readonly reads?: boolean | undefined;
  /** Entry of another version of the suite. */
  readonly suite?: string | undefined;
}

/** What a fault fell on. */
export interface Harm {
  readonly kind: 'in' | 'out' | 'after';
  readonly method?: string | undefined;
  /** The tool of a call that had been made, and had not been answered. */
  readonly underWay?: string | undefined;
  /** What its server had not told by then: its handshake, or what its tools do. */
  readonly untold?: 'handshake' | 'tools' | undefined;
}

export interface Seen extends Report {
  /** By scenario, how many boundaries it passed. */
  readonly boundaries: Readonly<Record<string, number>>;
  /** Scenarios that called a tool. */
  readonly calling: readonly string[];
  /** By scenario, where the fault fell. */
  readonly harms: Readonly<Record<string, Harm>>;
  readonly ms: number;
}

/** How long the suite's client waits for an answer, in ms. A call that hangs takes 2 s of silence, 5 s of ping, and the same again in the next process; a busy machine takes longer. */
const patience = 40_000;
const stopMs = 700;
/** How long a server elsewhere stands still before those who run it end it, and start it again, in ms: nobody else can. */
const hungMs = 3000;

/** A folder for one run, with what its server does to itself. */
interface Place {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Plays a round from its start to its end; nothing of it is left. */
export function playRound({ way, fault, at, scenario, reads = false, suite }: Round): Promise<Seen> {
  const isElsewhere = way.words.some((word) => word.includes('{url}'));
  return inPlace({ fault, at, isElsewhere }, async ({ directory, env }) => {
    const flags = [...(reads ? ['--reads'] : []), '--fire', directory];
    const front = await startFront(way, { flags, directory, env });
    const over = new AbortController();
    places.set(directory, () => {
      over.abort();
      void front.stop();
      for (const pid of linesOf(directory, 'pids')) end(Number(pid), directory);
    });
    try {
      const isHub = way.words.includes('{servers}');
      return await judgeServer(front, {
        scenario,
        suite,
        env: {
          CONFORMANCE_FIRE: directory,
          CONFORMANCE_PATIENCE: `${patience}`,
          ...(isHub && { CONFORMANCE_PREFIX: 'fire__' }),
        },
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(scenario === undefined ? 900_000 : 180_000)]),
      });
    } finally {
      places.delete(directory);
      await front.stop();
    }
  });
}

/** Plays a scenario of a client, whose server is the suite itself: that cannot die, and judge. */
export function playClient(
  command: readonly string[],
  scenario: string,
  harm: { readonly fault: Fault | 'none'; readonly at: number },
): Promise<Seen> {
  return inPlace(harm, ({ env }) => judgeClient(command, scenario, { env, signal: AbortSignal.timeout(90_000) }));
}

const places = new Map<string, () => void>();

/** Ends at once what every run has started, for a program that is told to end itself. */
export function abandon(): void {
  for (const stop of places.values()) stop();
}

async function inPlace(
  { isElsewhere = false, ...harm }: Pick<Round, 'fault' | 'at'> & { readonly isElsewhere?: boolean },
  play: (place: Place) => Promise<Report>,
): Promise<Seen> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-fire-'));
  const begun = performance.now();
  writeFileSync(join(directory, 'plan.json'), JSON.stringify(harm));
  const { PATH } = process.env;
  const env = { PATH, HOME: directory, TMPDIR: directory, UNWEDGE_DB: join(directory, 'mcp.sqlite') };
  const seen = new Set<string>();
  const resume = setInterval(() => {
    later(directory, 'stopped', seen, (pid) => signal(pid, 'SIGCONT'), stopMs);
    if (isElsewhere) later(directory, 'hung', seen, (pid) => end(pid, directory), hungMs);
  }, 50);
  try {
    const report = await play({ directory, env: { ...env, CONFORMANCE_FIRE: directory } }).catch(unjudged);
    return { ...report, ...told(directory), ms: performance.now() - begun };
  } finally {
    clearInterval(resume);
    for (const pid of linesOf(directory, 'pids')) end(Number(pid), directory);
    // A proxy whose bridge has gone still writes its last words there.
    await rm(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
}

/** What stands before the server did not start: there is no verdict. */
const unjudged = (error: unknown): Report => ({ verdicts: {}, said: {}, printed: String(error) });

function linesOf(directory: string, name: string): readonly string[] {
  try {
    return readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** Does something once with each process that is named in a file of the folder, so long after. */
function later(directory: string, file: string, seen: Set<string>, work: (pid: number) => void, ms: number): void {
  for (const pid of linesOf(directory, file)) {
    const key = `${file} ${pid}`;
    if (seen.has(key)) continue;
    seen.add(key);
    setTimeout(() => work(Number(pid)), ms);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has gone.
  }
}

/** A server that outlived what started it: it has the folder on its command line. */
function end(pid: number, directory: string): void {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory)) signal(pid, 'SIGKILL');
  } catch {
    // It has gone.
  }
}

interface Passed {
  readonly kind: Harm['kind'];
  readonly id?: string | number;
  readonly method?: string;
}

interface Fallen extends Passed {
  readonly at: number;
  readonly time: number;
}

interface Asked {
  readonly tool: string;
  readonly time: number;
}

function told(directory: string): Pick<Seen, 'boundaries' | 'calling' | 'harms'> {
  const boundaries: Record<string, number> = {};
  const calling: string[] = [];
  const harms: Record<string, Harm> = {};
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.log'))) {
    const name = file.slice(0, -'.log'.length);
    const scenario = name.replaceAll('+', '/');
    const passed = linesOf(directory, file).map((each) => JSON.parse(each) as Passed);
    boundaries[scenario] = passed.length;
    if (passed.some(({ method }) => method === 'tools/call')) calling.push(scenario);
    const [fallen] = linesOf(directory, `${name}.fault`);
    if (fallen === undefined) continue;
    const { at, kind, method, time } = JSON.parse(fallen) as Fallen;
    const calls = linesOf(directory, `${name}.asked`).map((each) => JSON.parse(each) as Asked);
    const open = calls.filter((call) => call.time < time).map(({ tool }) => tool);
    // The last boundary is the one at which something was not written, or not whole.
    const before = passed.slice(0, kind === 'after' ? at : at - 1);
    const answered = (asked: string): number => {
      const ids = new Set(passed.flatMap((each) => (each.kind === 'in' && each.method === asked ? [each.id] : [])));
      return before.filter((each) => each.kind === 'out' && each.method === undefined && ids.has(each.id)).length;
    };
    open.splice(0, answered('tools/call'));
    const untold = answered('initialize') === 0 ? 'handshake' : answered('tools/list') === 0 ? 'tools' : undefined;
    harms[scenario] = { kind, method, underWay: open[0], untold };
  }
  return { boundaries, calling, harms };
}
