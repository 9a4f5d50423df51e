import { readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { request } from '../startHook.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const watch = new URL('../../fixtures/watchHook.mjs', import.meta.url).href;

/** Runs a hook at the end of a session as Claude Code does: a line for the shell, the event as JSON on stdin, and its settings at hand. */
async function endSession(hook: string, timeout?: number) {
  const home = temporaryDirectory();
  const seen = join(home, 'seen');
  const command = `'${process.execPath}' '${main}' hook -- ${hook}`;
  mkdirSync(join(home, '.claude'));
  const entry = { type: 'command', command, ...(timeout !== undefined && { timeout }) };
  writeFileSync(
    join(home, '.claude', 'settings.json'),
    JSON.stringify({ hooks: { SessionEnd: [{ hooks: [entry] }] } }),
  );
  const { exitCode, stdout, stderr } = await execa('sh', ['-c', command], {
    cwd: home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CLAUDE_PROJECT_DIR: home,
      UNWEDGE_DB: join(home, 'hook.sqlite'),
      NODE_OPTIONS: `--import ${watch}`,
      WATCH_HOOK: seen,
    },
    extendEnv: false,
    reject: false,
    input: request('SessionEnd'),
  });
  return { exitCode, stdout, stderr, home, seen: readFileSync(seen, 'utf8').trim().split('\n') };
}

describe('a hook at the end of a session', () => {
  it('[H-3] is started before the settings of its host are looked at, and behind a few files of ours alone', async () => {
    const { exitCode, stdout, stderr, seen } = await endSession('cat', 1.5);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: request('SessionEnd'), stderr: '' });
    const at = seen.findIndex((line) => line.startsWith('spawned '));
    const [before, after] = [seen.slice(0, at), seen.slice(at + 1)];
    // A file that two others import is loaded once.
    expect(new Set(before.filter((line) => line.startsWith('loaded file:'))).size).toBeLessThanOrEqual(4);
    expect(before.filter((line) => line.startsWith('looked at '))).toEqual([]);
    expect(after.filter((line) => line.startsWith('looked at '))).not.toEqual([]);
  });

  it('[H-3] loads no package before it or after it', async () => {
    const { seen } = await endSession('true');
    expect(seen.filter((line) => line.includes('/node_modules/'))).toEqual([]);
    expect(seen.filter((line) => line.startsWith('loaded file:')).every((line) => line.includes('/dist/'))).toBe(true);
  });
});
