import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram } from '../support/sourceModule.mjs';
import { type Bridged, judgeInWorker } from './worker.ts';

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const suite = path('../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** The program of the repository that stands between client and server. */
export const unwedge = [process.execPath, path('../dist/cli/main.js')] as const;

let server: Promise<string> | undefined;

/** Builds the server that the suite asks for, once. @returns its command line, which speaks over its stdin and stdout. */
export async function conformanceServer(): Promise<readonly string[]> {
  server ??= buildProgram('fixtures/conformanceServer.mjs', { isWhole: true });
  return [process.execPath, await server];
}

/** The command line of a client that the suite drives; to it the address of the server is added. */
export const conformanceClient = [process.execPath, path('fixtures/conformanceClient.mjs')] as const;

/** The command line of a client that signs in through us before it asks; to it the path of our command and the address of the server are added. */
export const conformanceSignIn = [process.execPath, path('fixtures/conformanceSignIn.mjs')] as const;

/** Verdicts of the official suite by scenario and check (`ping/ping`), without what it notes only. */
export type Verdicts = Readonly<Record<string, string>>;

const ranks = ['SUCCESS', 'WARNING', 'FAILURE'];

/** The verdicts that are worse than those there were before, or are missing. */
export function worse(now: Verdicts, before: Verdicts): Verdicts {
  const rank = (verdict = 'none'): number => (ranks.includes(verdict) ? ranks.indexOf(verdict) : ranks.length);
  const checks = Object.keys(before).filter((check) => rank(now[check]) > rank(before[check]));
  return Object.fromEntries(checks.map((check) => [check, now[check] ?? 'none']));
}

export interface Report {
  readonly verdicts: Verdicts;
  /** What the suite says of the checks that did not succeed, by scenario. */
  readonly said: Readonly<Record<string, string>>;
  /** Everything it printed. */
  readonly printed: string;
}

export interface RunOptions {
  /** Names of the client's or the server's scenarios, else all of them. */
  readonly scenario?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The entry of the suite, else the one that the repository has. */
  readonly suite?: string | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Verdicts of the suite on a server, at an address or over stdin and stdout. */
export function judgeServer(
  { url, bridge }: { readonly url?: string | undefined; readonly bridge?: Bridged | undefined },
  options: RunOptions = {},
): Promise<Report> {
  const { scenario, signal, env = {} } = options;
  const words = [
    'server',
    ...(url === undefined ? [] : ['--url', url]),
    ...(scenario === undefined ? ['--suite', 'all'] : ['--scenario', scenario]),
  ];
  return reported('server-', (output) =>
    judgeInWorker(options.suite ?? suite, { words: [...words, '-o', output], env, bridge }, signal),
  );
}

/** What the suite says of a client; it is started with the address of the suite's own server as its last word. */
export function judgeClient(command: readonly string[], scenario: string, options: RunOptions = {}): Promise<Report> {
  // The suite has a shell take the words apart.
  const line = command.map((word) => `'${word}'`).join(' ');
  return reported('', (output) => run(['client', '--command', line, '--scenario', scenario, '-o', output], options));
}

async function run(words: readonly string[], options: RunOptions): Promise<string> {
  const program = ['--import', path('fixtures/conformanceSuite.mjs'), options.suite ?? suite];
  const child = spawn(process.execPath, [...program, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: options.env ?? process.env,
  });
  const end = (): void => void child.kill('SIGKILL');
  options.signal?.addEventListener('abort', end);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  await once(child, 'close');
  options.signal?.removeEventListener('abort', end);
  return printed;
}

/** What the suite leaves in the folder that it is given. @param prefix - before the names of scenarios there. */
async function reported(prefix: string, play: (output: string) => Promise<string>): Promise<Report> {
  const output = mkdtempSync(join(tmpdir(), 'unwedge-conformance-'));
  try {
    const printed = await play(output);
    const files = readdirSync(output, { recursive: true, encoding: 'utf8' });
    const checks = files.flatMap((file) => checksIn(output, file, prefix));
    const of = (one: ScenarioCheck): string => `${one.scenario}/${one.id}`;
    const bad = checks.filter(({ status }) => status !== 'SUCCESS');
    return {
      verdicts: Object.fromEntries(checks.map((check) => [of(check), check.status])),
      said: Object.fromEntries(bad.map((check) => [check.scenario, check.errorMessage ?? ''])),
      printed,
    };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}
type ScenarioCheck = Check & { readonly scenario: string };

function checksIn(output: string, file: string, prefix: string): readonly ScenarioCheck[] {
  // server-ping-2026-11-23T01-56-34-051Z/checks.json
  const name = /^(.+)-\d{4}-\d\d-\d\dT[^/]+\/checks\.json$/.exec(file)?.[1];
  if (name === undefined) return [];
  const scenario = name.slice(prefix.length);
  const checks = JSON.parse(readFileSync(join(output, file), 'utf8')) as readonly Check[];
  return checks.flatMap((check) => (check.status === 'INFO' ? [] : [{ ...check, scenario }]));
}
