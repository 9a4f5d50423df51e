import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/rooms.mjs';

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

it('[U-10] what is installed beside the package and what is built into it, the design names', () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(read('package.json')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;
  const installed = Object.keys({ ...dependencies, ...optionalDependencies });
  const imported = sourceFiles()
    .flatMap((name) => [...read(name).matchAll(/\b(?:from|import\()\s*'((?:@[\w-]+\/)?[a-z][\w-]*)(?:\/[^']*)?'/g)])
    .map(([, name = '']) => name)
    .filter((name) => !Object.hasOwn(peerDependencies ?? {}, name));
  expect(imported).toEqual(expect.arrayContaining(installed.filter((name) => name !== 'better-sqlite3')));
  const [loaded = ''] = /^## What is loaded$[^]*?(?=^## )/m.exec(read('docs/design.md')) ?? [];
  const names = new Set([...installed, ...imported]);
  expect([...names].filter((name) => !loaded.includes(`\`${name}\``)).sort()).toEqual([]);
});
