import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { setup } from '../globalSetup.ts';
import { openReader } from '../../reader/openReader.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { faultyModelApi } from '../../testing/index.ts';
import { claudeEnv, claudePath, hasClaude } from './claudeEnv.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The real program with the guard that `unwedge install` puts in, whose model makes one call over and over, and gives up after so many. */
async function runTurn(tool: { readonly name: string; readonly input: object }, givesUp = 40) {
  const api = await faultyModelApi((_, number) => (number < givesUp ? { text: '', tool } : { text: 'I give up.' }));
  onTestFinished(() => api.close());
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  for (const folder of [cwd, join(home, '.claude')]) mkdirSync(folder);
  writeFileSync(join(home, '.claude', 'settings.json'), '{}');
  const db = join(home, 'hooks.sqlite');
  const env = { ...claudeEnv(home, api.url), UNWEDGE_DB: db };
  const options = { env, extendEnv: false, cwd, reject: false, stdin: 'ignore' } as const;
  expect((await execa(process.execPath, [main, 'install', 'claude', '--guard', 'spinning'], options)).exitCode).toBe(0);
  const words = ['-p', '--output-format', 'json', '--allowedTools', 'Bash', 'Read', '--', 'do it'];
  const { stdout } = await execa(claudePath, words, options);
  const answers = api.requests.filter(({ url }) => url.startsWith('/v1/messages?') || url === '/v1/messages');
  const reader = await openReader(db);
  const events = await reader.events({ category: 'session', limit: 50 });
  reader.close();
  return {
    result: JSON.parse(stdout) as { readonly terminal_reason?: string; readonly result: string },
    requests: answers.length,
    told: answers.findIndex(({ body }) => body.includes('[unwedge: ')),
    steps: events.map(({ metadata }) => metadata['step']),
  };
}

describe.skipIf(!hasClaude)('the guard against repetition under the real claude', () => {
  beforeAll(setup);

  it.each([
    ['Bash', { command: 'exit 3' }],
    ['Read', { file_path: '/srv/none' }],
  ])(
    '[H-5] tells of equal failures of %s at the sixth, and ends the turn before the twenty-first',
    async (name, input) => {
      const { result, requests, told, steps } = await runTurn({ name, input });
      expect(result).toMatchObject({ terminal_reason: 'hook_stopped' });
      expect([requests, told]).toEqual([21, 6]);
      expect(steps).toEqual(['notice', 'tell', 'end']);
    },
  );

  it('[H-5] notices equal successes of a tool that acts, and lets them go on', async () => {
    const { result, steps } = await runTurn({ name: 'Bash', input: { command: 'true' } }, 30);
    expect(result).toMatchObject({ result: 'I give up.' });
    expect(steps).toEqual(['notice']);
  });
});
