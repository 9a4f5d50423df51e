import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import quick from '../../vitest.config.ts';
import slow from '../../vitest.slow.config.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('the tests', () => {
  it('[U-9] are each run by one of two commands: the slow ones have one of their own', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toMatchObject({ test: 'vitest run', 'test:slow': 'vitest run --config vitest.slow.config.ts' });
    expect(quick.test?.include).toEqual(['test/**/*.test.ts']);
    expect(slow.test?.include).toEqual(['test/**/*.slow.test.ts']);
    const leftOut = (quick.test?.exclude ?? []).filter((pattern) => !slow.test?.exclude?.includes(pattern));
    expect(leftOut).toEqual(slow.test?.include);
  });

  it('[U-9] are all run in CI, each command with a limit, and the rest within 45 minutes', () => {
    const run = read('.ci/run');
    const [, list = ''] = /^for tests in (.*); do$/m.exec(run) ?? [];
    const limits = [...list.matchAll(/'(\S+) (\d+)'/g)].map(([, name, minutes]) => [name, Number(minutes)]);
    expect(limits.map(([name]) => name)).toEqual(['test', 'test:slow']);
    for (const [name, minutes] of limits) expect(minutes, `the limit of ${name} in minutes`).toBeLessThan(44);
    expect(run).toContain('left=$((44 * 60 - SECONDS))');
  });
});
