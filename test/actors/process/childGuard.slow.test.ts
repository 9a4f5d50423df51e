import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listProcessesNow, type ProcessEntry, readProcessNow } from '../../../src/actors/process/processTable.ts';
import { processesOf } from '../../support/processesOf.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { fixture, isAlive } from './startProcess.ts';

const program = fileURLToPath(new URL('../../../dist/parts/childGuardProgram.js', import.meta.url));
const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** Where a family of test/fixtures/brood.mjs lives, and how it is known. */
interface Brood {
  readonly directory: string;
  readonly word: string;
  /** The program as one without arguments. */
  readonly program: string;
  /** Resolves when the whole family is there. */
  ready(): Promise<void>;
}

function makeBrood(): Brood {
  const directory = temporaryDirectory();
  const word = randomUUID();
  const file = join(directory, 'ready');
  const program = join(directory, 'brood');
  const words = [process.execPath, fixture('brood'), word, file].map((each) => `'${each}'`).join(' ');
  writeFileSync(program, `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
  onTestFinished(() => {
    for (let left = processesOf(word); left.length > 0; left = processesOf(word)) {
      for (const pid of left) kill(pid);
    }
  });
  return { directory, word, program, ready: () => expect.poll(() => existsSync(file)).toBe(true) };
}

/** Starts a host of children as the leader of a group of its own. */
function startHost({ directory }: Brood, words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { PATH } = process.env;
  const child = spawn(process.execPath, words, {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH, HOME: directory, TMPDIR: directory, XDG_RUNTIME_DIR: directory, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** SIGKILL to it and its group, as an impatient supervisor sends it. */
async function killGroup(host: ChildProcess): Promise<void> {
  const exited = once(host, 'exit');
  process.kill(-(host.pid ?? Number.NaN), 'SIGKILL');
  await exited;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}

/** How long a process has run, in ms, as the system counts it. */
function ageMs(entry: ProcessEntry | undefined): number {
  const [uptime = ''] = readFileSync('/proc/uptime', 'latin1').split(' ');
  return Number(uptime) * 1000 - Number(entry?.startTime) * 10;
}

const db = ({ directory }: Brood): string => join(directory, 'events.sqlite');

/** The guards of a host that lives. */
const guardsOf = ({ pid }: ChildProcess): readonly ProcessEntry[] =>
  listProcessesNow().filter((entry) => entry.parent === pid && !entry.zombie && isGuard(entry.pid));

const isGuard = (pid: number): boolean =>
  readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('childGuardProgram.js');

/** A gateway whose subprocess and MCP server are broods of one word, when both are there. */
async function startGateway(how: 'guarded' | 'unguarded') {
  const brood = makeBrood();
  const server = join(brood.directory, 'server');
  const host = startHost(brood, [fixture('broodGateway'), how, brood.word, join(brood.directory, 'ready'), server]);
  await once(host.stdout, 'data');
  return { brood, host, family: () => processesOf(brood.word).filter((pid) => pid !== host.pid) };
}

describe.runIf(process.platform === 'linux')('the guard over children', () => {
  it.each([
    ['run', (brood: Brood) => ['run', '--db', db(brood), '--', brood.program]],
    [
      'agent',
      (brood: Brood) => ['agent', '--db', db(brood), '--backend', 'claude', '--command', brood.program, 'hello'],
    ],
    ['mcp', (brood: Brood) => ['mcp', '--db', db(brood), '--', brood.program]],
    ['hook', (brood: Brood) => ['hook', '--db', db(brood), '--', brood.program]],
  ])('[S-8] [I-3] ends a family that is hard to end when `unwedge %s` is killed with its group', async (_, wordsOf) => {
    const brood = makeBrood();
    const host = startHost(brood, [main, ...wordsOf(brood)]);
    // Whoever waits for a first word starts.
    host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })}\n`);
    await brood.ready();
    // That of a hook comes 250 ms after it: most hooks are over by then.
    await expect.poll(() => guardsOf(host)).toHaveLength(1);
    await killGroup(host);
    await expect.poll(() => processesOf(brood.word)).toEqual([]);
  });

  it('[S-8] [I-3] ends the children of a library host, subprocesses and MCP servers, that is killed with its group', async () => {
    const { host, family } = await startGateway('guarded');
    await killGroup(host);
    await expect.poll(family).toEqual([]);
  });

  it('[S-8] is not there where the host does without it', async () => {
    const { host, family } = await startGateway('unguarded');
    expect(guardsOf(host)).toEqual([]);
    await killGroup(host);
    expect(family().length).toBeGreaterThanOrEqual(6);
  });

  it('[S-8] is one for all, in a session of its own, deaf to signals that end a service, and gone when its host has stopped', async () => {
    const { host, family } = await startGateway('guarded');
    const [guard, ...others] = guardsOf(host);
    expect([guard?.session, others]).toEqual([guard?.pid, []]);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(guard?.pid ?? Number.NaN, signal);
    const exited = once(host, 'exit');
    host.stdin.write('stop');
    expect(await exited).toEqual([0, null]);
    expect(isAlive(guard?.pid)).toBe(false);
    await expect.poll(family).toEqual([]);
  });

  it('[S-8] is replaced when somebody ends it, and the next one knows the children', async () => {
    const { host, family } = await startGateway('guarded');
    const [first] = guardsOf(host);
    // One that has just begun is not replaced.
    await expect.poll(() => ageMs(first)).toBeGreaterThan(1500);
    kill(first?.pid ?? Number.NaN);
    await expect.poll(() => guardsOf(host).map(({ pid }) => pid)).not.toContain(first?.pid);
    await expect.poll(() => guardsOf(host).length).toBe(1);
    await killGroup(host);
    await expect.poll(family).toEqual([]);
  });

  it('[S-8] leaves a process alone that was given the pid of a child, and ends when there is nothing to end', async () => {
    const stranger = spawn(process.execPath, [fixture('silent')], { stdio: 'ignore' });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    const guard = spawn(process.execPath, [program, '00000000000'], { stdio: ['pipe', 'inherit', 'inherit'] });
    const exited = once(guard, 'exit');
    guard.stdin.end(`+${stranger.pid} 1\n`);
    expect(await exited).toEqual([0, null]);
    expect(isAlive(stranger.pid)).toBe(true);
  });

  it('[S-8] leaves a child alone that was told to be gone, and takes lines in pieces', async () => {
    const child = spawn(process.execPath, [fixture('silent')], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const startTime = readProcessNow(child.pid ?? Number.NaN)?.startTime;
    const guard = spawn(process.execPath, [program, '00000000000'], { stdio: ['pipe', 'inherit', 'inherit'] });
    const exited = once(guard, 'exit');
    guard.stdin.write(`+${child.pid} ${startTime}\n-${child.pid}`);
    guard.stdin.write('\n');
    guard.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(isAlive(child.pid)).toBe(true);
  });
});
