import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('[U-10] at most 45 packages with ours are installed, without optional ones, and the design says how many', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Readonly<Record<string, Partial<Record<'dev' | 'optional' | 'devOptional' | 'peer', true>>>>;
  };
  const installed = Object.values(packages).filter(
    ({ dev, optional, devOptional, peer }) =>
      dev !== true && optional !== true && devOptional !== true && peer !== true,
  );
  // The first is the project itself.
  expect(installed.length).toBeGreaterThan(5);
  expect(installed.length).toBeLessThanOrEqual(45);
  expect(read('docs/design.md')).toContain(`stays a dependency: ${installed.length} packages `);
});
