import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const watcher = fileURLToPath(new URL('../../fixtures/watchLoading.mjs', import.meta.url));

/** `unwedge hook`, whose own program never comes to be loaded. */
function held(words: readonly string[]) {
  const home = temporaryDirectory();
  return execa(process.execPath, ['--import', watcher, main, 'hook', ...words, '--', 'true'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LOADING_HOLDS: '/cli/hookMain' },
    extendEnv: false,
    reject: false,
    input: '{}',
  });
}

describe('the last timer of a guard', () => {
  it.each([
    ['--on-failure', 'block', '--host-timeout', '300ms'],
    ['--on-failure=block', '--host-timeout=0.3'],
    ['--on-failure', 'block', '--host-timeout', '0.005m'],
  ])(
    '[H-3] declines before the limit of the host though nothing of the program is loaded: %s %s %s',
    async (...words) => {
      const { exitCode, stderr } = await held(words);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(
        "unwedge: hook: It was not done before the host's limit of 0.3s; it is a guard, so this is declined",
      );
    },
  );

  it.each(['0', '0ms', '0.0s'])('[H-3] is none for a limit of %s: that is refused in words', async (limit) => {
    const words = ['hook', '--on-failure', 'block', '--host-timeout', limit, '--', 'true'];
    const { exitCode, stderr } = await execa(process.execPath, [main, ...words], { reject: false, input: '{}' });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--host-timeout');
    expect(stderr).not.toContain('It was not done');
  });
});
