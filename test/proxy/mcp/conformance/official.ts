import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const suite = path('../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const onNode20 = ['--import', path('fixtures/conformanceOnNode20.mjs')];

/** The command line of the server that the suite asks for, which speaks over its stdin and stdout. */
export const conformanceServer = [process.execPath, path('fixtures/conformanceServer.mjs')] as const;

/** The command line of a client that the suite drives; to it the address of the server is added. */
export const conformanceClient = [process.execPath, path('fixtures/conformanceClient.mjs')] as const;

/** The command line of a client that signs in through us before it asks; to it the path of our command and the address of the server are added. */
export const conformanceSignIn = [process.execPath, path('fixtures/conformanceSignIn.mjs')] as const;

/** Verdicts of the official suite by scenario and check, without what it notes only. */
export type Verdicts = Readonly<Record<string, string>>;

const ranks = ['SUCCESS', 'WARNING', 'FAILURE'];

/** The verdicts that are worse than those there were before, or are missing. */
export function worse(now: Verdicts, before: Verdicts): Verdicts {
  const rank = (verdict = 'none'): number => (ranks.includes(verdict) ? ranks.indexOf(verdict) : ranks.length);
  const checks = Object.keys(before).filter((check) => rank(now[check]) > rank(before[check]));
  return Object.fromEntries(checks.map((check) => [check, now[check] ?? 'none']));
}

/** What the suite says of the server at an address. */
export function verdictsOnServer(url: string): Promise<Verdicts> {
  return run(['server', '--url', url, '--suite', 'all']);
}

/** What the suite says of a client; it is started with the address of the suite's own server as its last word. */
export function verdictsOnClient(command: readonly string[], scenario: string): Promise<Verdicts> {
  // The suite has a shell take the words apart.
  const line = command.map((word) => `'${word}'`).join(' ');
  return run(['client', '--command', line, '--scenario', scenario]);
}

async function run(words: readonly string[]): Promise<Verdicts> {
  const output = temporaryDirectory();
  const child = spawn(process.execPath, [...onNode20, suite, ...words, '-o', output], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'exit');
  return Object.fromEntries(
    readdirSync(output, { recursive: true, encoding: 'utf8' }).flatMap((file) => verdictsIn(output, file)),
  );
}

interface Check {
  readonly id: string;
  readonly status: string;
}

function verdictsIn(output: string, file: string): [string, string][] {
  // server-ping-2026-11-23T01-56-34-051Z/checks.json
  const scenario = /^(.+)-\d{4}-\d\d-\d\dT[^/]+\/checks\.json$/.exec(file)?.[1];
  if (scenario === undefined) return [];
  const checks = JSON.parse(readFileSync(join(output, file), 'utf8')) as readonly Check[];
  return checks.flatMap(({ id, status }) => (status === 'INFO' ? [] : [[`${scenario}/${id}`, status]]));
}

/** Starts a command that prints the address that it listens on, on stdout or stderr, and gives that. */
export async function addressOf(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.kill()) await gone;
  });
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        const url = /http:\/\/127\.0\.0\.1:\d+\/\w*/.exec(line)?.[0];
        if (url !== undefined) resolve(url);
      });
    }
    child.once('exit', (code) => reject(new Error(`It ended with ${code} before it listened`)));
  });
}
