import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { setup } from '../globalSetup.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath, hasClaude } from './claudeEnv.ts';
import { callsTool, says } from './fakeAnthropic.ts';
import { startRealClaude } from './startRealClaude.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');

describe.skipIf(!hasClaude)('the plugin for the real claude', () => {
  beforeAll(setup);

  it.each([
    ['plugin', join(root, 'plugins', 'claude')],
    ['marketplace', root],
  ])('[E-6] is a valid %s', async (_, path) => {
    const home = temporaryDirectory();
    const { exitCode, stdout, stderr } = await execa(claudePath, ['plugin', 'validate', path, '--strict'], {
      cwd: home,
      env: claudeEnv(home, 'http://127.0.0.1:9'),
      extendEnv: false,
      reject: false,
    });
    expect({ exitCode, stdout, stderr }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('passed') as string,
    });
  });

  it('[E-6] [E-5] is installed from the package, and lets the model ask what is stuck', async () => {
    const script = [callsTool('mcp__plugin_unwedge_unwedge__status', {}), says('nothing is stuck')];
    const args = ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__plugin_unwedge_unwedge'];
    const { cwd, env, claude, upstream } = await startRealClaude(script, { args });
    // What `npm install unwedge` leaves.
    mkdirSync(join(cwd, 'node_modules', '.bin'), { recursive: true });
    symlinkSync(main, join(cwd, 'node_modules', '.bin', 'unwedge'));
    symlinkSync(root, join(cwd, 'node_modules', 'unwedge'));
    const plugin = (...words: string[]) => execa(claudePath, ['plugin', ...words], { cwd, env, extendEnv: false });
    await plugin('marketplace', 'add', './node_modules/unwedge');
    await plugin('install', 'unwedge@unwedge');
    expect((await plugin('list')).stdout).toContain('unwedge@unwedge');
    expect(await claude.call({ prompt: 'what is stuck?' }, { maxAttempts: 1 })).toMatchObject({
      ok: true,
      value: { agent: { text: 'nothing is stuck' } },
    });
    const asked = JSON.stringify(upstream.requests.at(-1)?.body.messages);
    expect(asked).toContain('makes one. Name another with --db FILE or UNWEDGE_DB.');
  });
});
