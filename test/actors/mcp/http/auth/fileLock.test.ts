import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockBusy, withFileLock } from '../../../../../src/actors/mcp/http/auth/fileLock.ts';
import { deferred } from '../../../../support/deferred.ts';
import { SkippingClock } from '../../../../support/skippingClock.ts';
import { temporaryDirectory } from '../../../../support/temporary.ts';

const clock = new SkippingClock();
const newPath = (): string => join(temporaryDirectory(), 'a.lock');
const done = (): Promise<string> => Promise.resolve('done');

describe('a lock that is a file', () => {
  it('[P-4] lets one work at a time, and is gone after', async () => {
    const path = newPath();
    const first = deferred<void>();
    const order: string[] = [];
    const one = withFileLock(path, clock, 60_000, async () => {
      order.push('one');
      await first.promise;
      order.push('one ends');
    });
    const two = withFileLock(path, clock, 60_000, () => Promise.resolve(order.push('two')));
    first.resolve();
    await Promise.all([one, two]);
    expect(order).toEqual(['one', 'one ends', 'two']);
    expect(existsSync(path)).toBe(false);
  });

  it('[P-4] is given back by work that fails', async () => {
    const path = newPath();
    await expect(withFileLock(path, clock, 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withFileLock(path, clock, 0, done)).toBe('done');
  });

  it('[P-4] is not waited for beyond the limit', async () => {
    const path = newPath();
    const end = deferred<void>();
    const one = withFileLock(path, clock, 0, () => end.promise);
    expect(await withFileLock(path, clock, 0, done)).toBe(lockBusy);
    end.resolve();
    await one;
  });

  it('[P-4] is taken from a process that is dead, or was given the same pid', async () => {
    const path = newPath();
    for (const owner of [{ pid: 2 ** 30 }, { pid: process.pid, startTime: 'another' }]) {
      writeFileSync(path, JSON.stringify({ host: hostname(), ...owner }));
      expect(await withFileLock(path, clock, 0, done)).toBe('done');
    }
    expect(existsSync(`${path}.steal`)).toBe(false);
  });

  it('[P-4] is taken from whoever has had it for too long', async () => {
    const path = newPath();
    writeFileSync(path, '');
    expect(await withFileLock(path, clock, 0, done)).toBe(lockBusy);
    const old = new Date(Date.now() - 3 * 60_000);
    utimesSync(path, old, old);
    writeFileSync(`${path}.steal`, '');
    utimesSync(`${path}.steal`, old, old);
    expect(await withFileLock(path, clock, 0, done)).toBe('done');
  });

  it('[P-4] says what the file system has against it', async () => {
    await expect(withFileLock('/proc/nothing/a.lock', clock, 0, done)).rejects.toThrow(/ENOENT|EACCES/);
  });
});
