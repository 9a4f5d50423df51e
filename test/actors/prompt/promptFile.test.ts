import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { removePromptDirectory, removePromptFilesNow, writePromptFile } from '../../../src/actors/prompt/promptFile.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a prompt file', () => {
  it('[S-5] can be read by its owner only, in a directory of its own', async () => {
    const directory = temporaryDirectory();
    const file = await writePromptFile('say hi', directory);
    expect(readFileSync(file.path, 'utf8')).toBe('say hi');
    expect([mode(file.path), mode(dirname(file.path))]).toEqual(['600', '700']);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^unwedge-prompt-/)]);
  });

  it('[S-5] is gone with its directory once removed, however often', async () => {
    const directory = temporaryDirectory();
    const file = await writePromptFile('say hi', directory);
    await file.remove();
    await file.remove();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('[S-5] holds 10 MB and null bytes as they are', async () => {
    const prompt = `a\0b${'é'.repeat(5 * 1024 * 1024)}`;
    const file = await writePromptFile(prompt, temporaryDirectory());
    expect(readFileSync(file.path, 'utf8') === prompt).toBe(true);
  });

  it('[S-5] [I-3] is removed when the process exits, and only while there is one does anybody listen to that', async () => {
    removePromptFilesNow();
    const directory = temporaryDirectory();
    const before = process.listenerCount('exit');
    const signals = process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
    await writePromptFile('one', directory);
    await writePromptFile('two', directory);
    expect(process.listeners('exit')).toContain(removePromptFilesNow);
    removePromptFilesNow();
    expect(readdirSync(directory)).toEqual([]);
    expect(process.listenerCount('exit')).toBe(before);
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(signals);
  });

  it('[S-5] that cannot be written leaves nothing and says why', async () => {
    const directory = join(temporaryDirectory(), 'missing');
    await expect(writePromptFile('say hi', directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('[S-5] never follows or removes what somebody put in its place', async () => {
    const directory = temporaryDirectory();
    const victim = join(directory, 'victim');
    writeFileSync(victim, 'precious');
    const file = await writePromptFile('say hi', directory);
    await file.remove();
    mkdirSync(dirname(file.path));
    symlinkSync(victim, file.path);
    symlinkSync(directory, join(dirname(file.path), 'other'));
    await removePromptDirectory(dirname(file.path));
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(lstatSync(join(dirname(file.path), 'other')).isSymbolicLink()).toBe(true);
    expect(existsSync(file.path)).toBe(false);
  });

  it.each(['exit', 'throw', 'handle'])('[S-5] [I-3] is gone when its host ends by: %s', async (how) => {
    expect(await endOfHost(how)).toEqual({ signal: null, isLeft: false });
  });

  it('[S-5] changes nothing about what a signal does to its host, and is left to the sweep then', async () => {
    expect(await endOfHost('signal')).toEqual({ signal: 'SIGTERM', isLeft: true });
  });
});

/** How a process ends that holds a prompt file, and whether the file is there still. */
async function endOfHost(how: string): Promise<{ signal: string | null; isLeft: boolean }> {
  const host = fileURLToPath(new URL('../../fixtures/promptHost.mjs', import.meta.url));
  const child = spawn(process.execPath, [host, how], {
    env: { ...process.env, TMPDIR: temporaryDirectory() },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let path = '';
  child.stdout.on('data', (chunk: Buffer) => {
    path += chunk.toString();
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(path).toContain('unwedge-prompt-');
  return { signal, isLeft: existsSync(path) };
}
