import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { identify, judge, type ProcessWorld, seeWorld } from '../../../src/actors/process/processIdentity.ts';

const entry = (pid: number, startTime: string, zombie = false) => ({
  pid,
  parent: 1,
  group: pid,
  session: pid,
  startTime,
  zombie,
});
const world: ProcessWorld = {
  entries: [entry(process.pid, '10'), entry(77, '500')],
  boot: 'boot-1',
  namespace: 'pid:[1]',
};
const known = identify(world, 77);

describe('the identity of a process', () => {
  it('is that of a live process as long as it is there', () => {
    expect(judge(world, known)).toBe('alive');
    expect(judge({ ...world, entries: [entry(process.pid, '10')] }, known)).toBe('dead');
  });

  it('[L-5] is not that of a later process with the same pid', () => {
    expect(judge({ ...world, entries: [entry(process.pid, '10'), entry(77, '501')] }, known)).toBe('dead');
    expect(judge({ ...world, boot: 'boot-2' }, known)).toBe('dead');
  });

  it('is that of a dead process while that waits to be reaped', () => {
    expect(judge({ ...world, entries: [entry(process.pid, '10'), entry(77, '500', true)] }, known)).toBe('dead');
  });

  it('[L-5] cannot be judged from another pid namespace, nor without a process table', () => {
    expect(judge({ ...world, namespace: 'pid:[2]', entries: [entry(process.pid, '10')] }, known)).toBe('unknown');
    expect(judge({ ...world, entries: [] }, known)).toBe('unknown');
  });

  it('cannot be judged when nobody knew it', () => {
    expect(identify(world, 78)).toEqual({ pid: 78, start: '' });
    expect(judge(world, identify(world, 78))).toBe('unknown');
  });

  it('of real processes tells the live from the dead', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1e6)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const identity = identify(await seeWorld(), child.pid ?? 0);
    expect(judge(await seeWorld(), identity)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(judge(await seeWorld(), identity)).toBe('dead');
  });
});
