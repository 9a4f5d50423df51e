import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { Io } from '../../cli/io.ts';
import { outputWidth } from '../../cli/commandLine.ts';
import { runCommandLine } from '../../cli/run.ts';
import type { Fact, Told } from '../../src/policy/facts/facts.ts';
import { startStore } from '../store/startStore.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ran {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line as a process of its own, its streams piped. */
export async function runBuilt(words: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [main, ...words], {
    // Without gateways of whoever runs the tests.
    env: { HOME: '/nonexistent', XDG_RUNTIME_DIR: '/nonexistent', TZ: 'UTC', ...env },
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    stdin: 'ignore',
  });
  return { code: exitCode, stdout, stderr };
}

/**
 * Runs it in this process, by the same function, with the environment and the time that a process of its own would have: a start takes a third of a
 * second of a processor, and one of a command shows that its streams and its exit code are those of the function.
 */
export function runHere(words: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const whole = { HOME: '/nonexistent', XDG_RUNTIME_DIR: '/nonexistent', ...env };
  const width = outputWidth({ isTTY: false, columns: 0 }, whole);
  return call(words, { env: whole, columns: width ?? Infinity, errorColumns: width, now: () => Date.now() });
}

/** Runs it with a stdout that nobody reads. */
export async function runUnread(words: readonly string[]): Promise<Pick<Ran, 'code' | 'stderr'>> {
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[number | undefined]>;
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const [code] = await ended;
  return { code, stderr };
}

/** Runs the command line in this process, an hour after the simulated start of time unless told otherwise. */
export async function call(words: readonly string[], given: Partial<Io> = {}): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const code = await runCommandLine(words, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    isTTY: false,
    columns: Infinity,
    signal: new AbortController().signal,
    now: () => Date.UTC(2026, 0, 1, 1),
    ...given,
  });
  return { code, stdout, stderr };
}

/** A fresh database that holds the facts. */
export async function databaseWith(...facts: readonly Told<Fact>[]): Promise<string> {
  const { store, clock, path } = await startStore();
  for (const fact of facts) store.record(fact);
  const flushed = store.flush();
  await clock.settle();
  await flushed;
  return path;
}
