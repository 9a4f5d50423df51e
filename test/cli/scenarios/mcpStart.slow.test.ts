import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processesWith } from '../startHook.ts';
import { makeHome, type McpHome } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

/** `unwedge mcp`, watched or held while it loads, over a server that says where it runs and would rather not end. */
function start({ directory, env }: McpHome, watcher: string, more: NodeJS.ProcessEnv) {
  const script = `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync('${directory}/server', String(process.pid));
    process.stdin.resume(); setInterval(() => {}, 1000)`;
  const words = ['--import', fixture(watcher), main, 'mcp', '--', process.execPath, '-e', script];
  const child = spawn(process.execPath, words, { env: { ...env, ...more } });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { child, exited, stderr: () => stderr };
}

const serverPid = (home: McpHome) => {
  try {
    return readFileSync(join(home.directory, 'server'), 'utf8');
  } catch {
    return '';
  }
};
const noneLeft = (home: McpHome) =>
  expect.poll(() => processesWith(`UNWEDGE_DB=${home.db}`), { timeout: 20_000 }).toEqual([]);

describe('the start of `unwedge mcp`', () => {
  it('[P-3] starts the server before the rest of the program is loaded', async () => {
    const home = makeHome();
    const watched = join(home.directory, 'watched');
    const { child, exited } = start(home, 'watchHook.mjs', { WATCH_HOOK: watched });
    await expect.poll(() => serverPid(home), { timeout: 20_000 }).not.toBe('');
    child.stdin.end();
    await exited;
    const lines = readFileSync(watched, 'utf8').split('\n');
    const spawned = lines.findIndex((line) => line.startsWith('spawned') && !line.includes(process.execPath));
    expect(spawned).toBeGreaterThan(-1);
    expect(lines.findIndex((line) => /loaded .*mcpCommand-/.test(line))).toBeGreaterThan(spawned);
    await noneLeft(home);
  });

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    '[P-3] [I-3] ended by %s while it loads leaves no server behind',
    async (signal) => {
      const home = makeHome();
      const { child, exited } = start(home, 'watchLoading.mjs', { LOADING_HOLDS: 'mcpCommand' });
      await expect.poll(() => serverPid(home), { timeout: 20_000 }).not.toBe('');
      child.kill(signal);
      expect((await exited)[0]).not.toBe(0);
      await noneLeft(home);
    },
  );

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '[P-3] [I-3] ended by %s as soon as its server runs says so by how it ends',
    async (signal) => {
      const home = makeHome();
      const { child, exited } = start(home, 'watchLoading.mjs', {});
      await expect.poll(() => serverPid(home), { timeout: 20_000, interval: 5 }).not.toBe('');
      child.kill(signal);
      expect([
        [128 + constants.signals[signal], null],
        [null, signal],
      ]).toContainEqual(await exited);
      await noneLeft(home);
    },
  );

  it('[P-3] [I-3] that cannot be loaded leaves no server behind', async () => {
    const home = makeHome();
    const { exited, stderr } = start(home, 'watchLoading.mjs', { LOADING_FAILS: 'mcpCommand' });
    expect((await exited)[0]).not.toBe(0);
    expect(stderr()).toContain('is broken');
    await noneLeft(home);
  });

  it('[P-3] starts none where nobody can be the client', async () => {
    const home = makeHome();
    const watched = join(home.directory, 'watched');
    const child = spawn(
      process.execPath,
      ['--import', fixture('watchHook.mjs'), main, 'mcp', '--', process.execPath, '-e', ''],
      { env: { ...home.env, WATCH_HOOK: watched }, stdio: 'ignore' },
    );
    await once(child, 'exit');
    expect(readFileSync(watched, 'utf8')).not.toContain('spawned');
  });
});
