import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const least = 90;

type Summary = Readonly<Record<'statements' | 'branches' | 'functions' | 'lines', { readonly pct: number }>>;

it(`[C-7] the tests of the Claude client reach ${least} % of its files`, async () => {
  const directory = temporaryDirectory();
  // What vitest tells its own workers is not meant for another vitest.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const options = ['include=agents/claude/**', 'reporter=json-summary', `reportsDirectory=${directory}`];
  await execa(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      'test/agents/claude',
      '--coverage',
      ...options.map((o) => `--coverage.${o}`),
    ],
    { cwd: root, env, extendEnv: false },
  );
  const report = JSON.parse(readFileSync(join(directory, 'coverage-summary.json'), 'utf8')) as { total: Summary };
  const { statements, branches, functions, lines } = report.total;
  for (const { pct } of [statements, branches, functions, lines]) expect(pct).toBeGreaterThanOrEqual(least);
});
