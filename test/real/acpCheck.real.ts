import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/index.ts';
import { checkAcpAgent } from '../../testing/acp/acpCheck.ts';
import { faultyModelApi } from '../../testing/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { findAgents } from './fire/agents.ts';

/** Directory in which the agents are installed. */
const modules = process.env['UNWEDGE_FIRE_MODULES'] ?? fileURLToPath(new URL('node_modules', import.meta.url));

/** Musts that agents of these versions do not keep, by their first words. */
const broken: Readonly<Record<string, readonly string[]>> = {
  'goose 1.52.0': ['a version that it does not speak'],
  // Without a trace of the session once its stdin has ended, or told after the answer alone.
  'gemini 0.61.0': ['session/load tells what was said'],
};

const numbers = Array.from({ length: 40 }, (_, index) => `${index + 1} `).join('');

const agents = findAgents(modules).found.filter(({ acp }) => acp !== undefined);

describe.skipIf(agents.length === 0)('the musts of the Agent Client Protocol', () => {
  it.each(agents)('[A-7] as $name $version keeps them', async ({ name, version, words, acp = [], env }) => {
    const api = await faultyModelApi(({ body }) => {
      const counts = body.lastIndexOf('Count from') > body.lastIndexOf('Reply with');
      return counts ? { text: numbers, dripMs: 200 } : { text: 'ok then' };
    });
    onTestFinished(() => api.close());
    const root = temporaryDirectory();
    const [home, cwd, temporary] = ['home', 'cwd', 'tmp'].map((path) => join(root, path)) as [string, string, string];
    for (const path of [home, cwd, temporary]) mkdirSync(path);
    const [command = '', ...args] = [...words, ...acp];
    const { rows } = await checkAcpAgent({
      ...{ command, args, cwd, clock: systemClock },
      env: {
        PATH: `${join(modules, '.bin')}:${process.env['PATH'] ?? ''}`,
        ...{ HOME: home, TMPDIR: temporary },
        ...env({ home, cwd, url: api.url }),
      },
    });
    const failed = rows.filter(({ result }) => result === 'fail').map(({ must, seen }) => `${must}: ${seen}`);
    const known = broken[`${name} ${version}`] ?? [];
    expect(failed.filter((each) => !known.some((start) => each.startsWith(start)))).toEqual([]);
    expect(rows.some(({ result }) => result === 'pass')).toBe(true);
  });
});
