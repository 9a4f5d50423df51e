import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeLeftPrompts, sweepPrompts, writePromptFile } from '../../../../src/actors/prompt/promptFile.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const hour = 3_600_000;
const now = Date.UTC(2026, 10, 21, 12);

/** A directory as a process of that owner left it, so long ago. */
function leave(directory: string, name: string, ageMs: number, owner?: string): string {
  const path = join(directory, `unwedge-prompt-${name}`);
  mkdirSync(path);
  writeFileSync(join(path, 'prompt'), 'old');
  if (owner !== undefined) writeFileSync(join(path, 'owner'), owner);
  utimesSync(path, (now - ageMs) / 1000, (now - ageMs) / 1000);
  return path;
}

const dead = JSON.stringify({ pid: 999_999_999, start: '1@other-boot@' });

describe('the sweep of prompt files', () => {
  it('[S-5] removes what is older than an hour and of a dead owner, and nothing younger', async () => {
    const directory = temporaryDirectory();
    const old = leave(directory, 'a', hour + 1000, dead);
    const young = leave(directory, 'b', hour - 1000, dead);
    expect(await removeLeftPrompts(now, directory)).toBe(1);
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });

  it('[S-5] leaves alone what belongs to a live process, however old', async () => {
    const directory = temporaryDirectory();
    const file = await writePromptFile('in use', directory);
    expect(await removeLeftPrompts(Date.now() + 100 * hour, directory)).toBe(0);
    expect(existsSync(file.path)).toBe(true);
    await file.remove();
  });

  it('[S-5] takes a process of the same pid that started at another time for another one', async () => {
    const directory = temporaryDirectory();
    const file = await writePromptFile('mine', directory);
    writeFileSync(join(dirname(file.path), 'owner'), JSON.stringify({ pid: process.pid, start: '1@other-boot@' }));
    expect(await removeLeftPrompts(Date.now() + 2 * hour, directory)).toBe(1);
    await file.remove();
  });

  it('[S-5] removes what was left in the middle of being made', async () => {
    const directory = temporaryDirectory();
    leave(directory, 'a', 2 * hour);
    leave(directory, 'b', 2 * hour, '{"pid":');
    leave(directory, 'c', 2 * hour, '{"pid":"x"}');
    expect(await removeLeftPrompts(now, directory)).toBe(3);
  });

  it('[S-5] keeps what cannot be judged for a day', async () => {
    const directory = temporaryDirectory();
    const elsewhere = JSON.stringify({ pid: 1, start: '' });
    leave(directory, 'a', 23 * hour, elsewhere);
    leave(directory, 'b', 25 * hour, elsewhere);
    await removeLeftPrompts(now, directory);
    expect(readdirSync(directory)).toEqual(['unwedge-prompt-a']);
  });

  it('[S-5] follows no links and touches nothing of another name', async () => {
    const directory = temporaryDirectory();
    const target = temporaryDirectory();
    const precious = leave(target, 'x', 9 * hour, dead);
    symlinkSync(precious, join(directory, 'unwedge-prompt-link'));
    writeFileSync(join(directory, 'unwedge-prompt-file'), '');
    mkdirSync(join(directory, 'other'));
    expect(await removeLeftPrompts(now + 100 * hour, directory)).toBe(0);
    expect(existsSync(join(precious, 'prompt'))).toBe(true);
  });

  it('[S-5] goes over a directory that is not there', async () => {
    expect(await removeLeftPrompts(now, '/no/such/directory')).toBe(0);
  });

  it('[S-5] [I-3] comes every hour until it is stopped', async () => {
    const clock = new SimulatedClock();
    const stop = sweepPrompts(clock, temporaryDirectory());
    expect(clock.nextAt).toBe(clock.now() + hour);
    await clock.advance(hour);
    expect(clock.pending).toBe(1);
    stop();
    expect(clock.pending).toBe(0);
  });
});
