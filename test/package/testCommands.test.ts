import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import quick from '../../vitest.config.ts';
import slow, { longest } from '../../vitest.slow.config.ts';

const root = new URL('../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, root), 'utf8');

describe('the tests', () => {
  it('[U-9] are each run by one of two commands: the slow ones have one of their own', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toMatchObject({ test: 'vitest run', 'test:slow': 'vitest run --config vitest.slow.config.ts' });
    expect(quick.test?.include).toEqual(['test/**/*.test.ts']);
    expect(slow.test?.include).toEqual(['test/**/*.slow.test.ts']);
    const leftOut = (quick.test?.exclude ?? []).filter((pattern) => !slow.test?.exclude?.includes(pattern));
    expect(leftOut).toEqual(slow.test?.include);
  });

  it('[U-9] are all run in CI, each command with a limit, and all together with one', () => {
    const run = read('.ci/run');
    const limits = [...run.matchAll(/^tests (\S+) (\d+)$/gm)].map(
      ([, name, minutes]) => [name, Number(minutes)] as const,
    );
    expect(limits.map(([name]) => name)).toEqual(['test', 'test:slow']);
    for (const [name, minutes] of limits) expect(minutes, `the limit of ${name} in minutes`).toBeLessThan(44);
    expect(run).toContain('left=$((80 * 60 - SECONDS))');
    const [, harmed = ''] = /--exclude 'test\/chaos\/\{([\w,]+)\}\.slow\.test\.ts'/.exec(run) ?? [];
    const scenarios: Readonly<Record<string, string>> = { chaos: 'gateway', killMcp: 'mcp', killCluster: 'cluster' };
    expect(harmed.split(',').sort()).toEqual(Object.keys(scenarios).sort());
    for (const [file, scenario] of Object.entries(scenarios)) {
      expect(existsSync(new URL(`test/chaos/${file}.slow.test.ts`, root)), `${file} is there`).toBe(true);
      expect(run).toMatch(new RegExp(`chaos '${scenario} --times \\d+'`));
    }
  });

  it('[U-9] that are slow begin with files that are there', () => {
    expect(longest.length).toBeGreaterThan(10);
    expect(longest.filter((path) => !existsSync(new URL(path.slice(1), root)))).toEqual([]);
  });

  it('[U-9] that bring a page up to date are run by the check, which CI has do without what `npm test` ran', () => {
    const check = read('scripts/check.mjs');
    const [, list = ''] = /^const pageTests = \[([^\]]*)\]/m.exec(check) ?? [];
    const paths = [...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path);
    expect(paths).toContain('test/package');
    expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
    const updating = readdirSync(new URL('test', root), { recursive: true, encoding: 'utf8' })
      .map((name) => `test/${name}`)
      .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
      .filter((name) => /\.toMatchFileSnapshot\(/.test(read(name)));
    expect(updating.length).toBeGreaterThan(1);
    expect(updating.filter((name) => !paths.some((path) => name.startsWith(path)))).toEqual([]);
    expect(read('.ci/run')).toMatch(/npm run check -- --skip docs /);
    expect(check).toContain("  ['docs', ");
  });
});
