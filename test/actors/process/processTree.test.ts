import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as processMark from '../../../src/actors/process/processMark.ts';
import { descendants, killOrphansNow, killTreeNow, terminateTree } from '../../../src/actors/process/processTree.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { fixture, goneNow, isAlive } from './startProcess.ts';

/** A tree that nobody watches: only what is tested here ends it. */
async function startTree(name: string, ...args: readonly string[]) {
  const root = spawn(process.execPath, [fixture(name), ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(root, 'exit');
  const [line] = (await once(createInterface(root.stdout), 'line')) as [string];
  const { child } = JSON.parse(line) as { child: number };
  const { pid = 0 } = root;
  onTestFinished(() => {
    for (const left of [pid, child].filter(isAlive)) process.kill(left, 'SIGKILL');
  });
  return { pid, child, exited };
}

const startStubborn = (...args: readonly string[]) => startTree('stubborn', ...args);

describe('descendants', () => {
  it('[S-3] finds a child with a session of its own', async () => {
    const { pid, child } = await startStubborn();
    expect(await descendants(pid)).toEqual([child]);
  });

  it.each([0, 1, -1, Number.NaN, process.pid])('finds none for %d', async (pid) => {
    expect(await descendants(pid)).toEqual([]);
  });

  it('answers all who ask at once', async () => {
    const { pid, child } = await startStubborn();
    const answers = await Promise.all(Array.from({ length: 100 }, () => descendants(pid)));
    expect(answers).toEqual(Array(100).fill([child]));
  });
});

describe('terminating a tree', () => {
  it('[S-3] kills at once without a grace', async () => {
    const { pid, child, exited } = await startStubborn();
    await terminateTree(pid, { graceMs: 0, clock: systemClock, exited });
    expect([pid, child].filter(isAlive)).toEqual([]);
  });

  it('[S-3] kills a child that outlives its parent', async () => {
    const { pid, child, exited } = await startStubborn('mortal');
    await terminateTree(pid, { graceMs: 300, clock: systemClock, exited });
    expect(isAlive(child)).toBe(false);
  });

  it('never signals init, groups of others or the runtime itself', async () => {
    for (const pid of [0, 1, -1, Number.NaN, process.pid]) {
      await terminateTree(pid, { graceMs: 0, clock: systemClock, exited: Promise.resolve() });
      killTreeNow(pid);
      killOrphansNow(pid);
    }
    expect(isAlive(process.pid)).toBe(true);
  });

  it('does nothing for a process that is gone', async () => {
    const root = spawn(process.execPath, ['-e', '']);
    const exited = once(root, 'exit');
    await exited;
    expect(await terminateTree(root.pid ?? 0, { clock: systemClock, exited })).toBeUndefined();
  });

  it('[S-8] of a process that is no child of ours is over when that is gone', async () => {
    const { pid } = await startTree('forker');
    await terminateTree(pid, { graceMs: 600_000, clock: systemClock });
    expect(isAlive(pid)).toBe(false);
  });

  it('[S-8] leaves a process alone that started at another time', async () => {
    const { pid } = await startTree('forker');
    await terminateTree(pid, { graceMs: 0, clock: systemClock, startTime: 'earlier' });
    expect(isAlive(pid)).toBe(true);
  });

  it('[S-3] ends what a process that is gone left in its group', async () => {
    const { pid, child, exited } = await startTree('orphanPipe');
    await exited;
    await terminateTree(pid, { graceMs: 0, clock: systemClock, exited });
    expect(isAlive(child)).toBe(false);
  });
});

describe('killing a tree', () => {
  it('[I-3] takes several at once', async () => {
    const first = await startStubborn();
    const second = await startStubborn();
    killTreeNow(first.pid, second.pid);
    expect(goneNow(first.pid, first.child, second.pid, second.child)).toBe(true);
  });

  it('[I-3] ends what a process that is gone left in its group', async () => {
    const { pid, child, exited } = await startTree('orphanPipe');
    await exited;
    killOrphansNow(pid);
    expect(goneNow(child)).toBe(true);
  });

  it('[I-3] happens at the exit of the runtime, while the tree is watched', async () => {
    const { pid, child } = await startStubborn();
    // A list of its own: the exit kills all that are in one, and other tests share this process.
    const path = '../../../src/actors/process/processMark.ts?own';
    const { killAtExit } = (await import(path)) as typeof processMark;
    const forget = killAtExit(pid, 'none');
    const [listener] = process.listeners('exit').slice(-1);
    listener?.call(process, 0);
    forget();
    expect(goneNow(pid, child)).toBe(true);
    expect(process.listeners('exit')).not.toContain(listener);
  });
});
