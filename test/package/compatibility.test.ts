import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPage, readRecorded, tableOf } from '../compat/page.mjs';
import { type CompatRow, rows } from '../compat/rows.mjs';

const { engines, scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
};

describe('docs/compatibility.md', () => {
  it('[U-11] shows the last run that was recorded, and nothing else', () => {
    expect(readPage().table).toBe(tableOf(readRecorded()));
  });

  it('[U-11] has a run of each row, which gave what it should', () => {
    const said = ({ id, what, works }: Pick<CompatRow, 'id' | 'what' | 'works'>) => ({ id, what, works });
    expect(readRecorded().map(said)).toEqual(rows.map(said));
    expect(readRecorded().filter(({ ok, note }) => !ok || note === '')).toEqual([]);
    for (const [at, { packages }] of rows.entries())
      for (const [name, version] of Object.entries(packages))
        expect(` ${readRecorded()[at]?.with}`).toMatch(new RegExp(` ${name} ${version.replaceAll('.', '\\.')}[.,]?`));
  });

  it('[U-11] has the least Node that the package asks for, 20, 22 and 24, pnpm, Vitest and Jest', () => {
    const asked = new Set(
      rows.flatMap(({ packages }) => Object.entries(packages).map(([name, at]) => `${name} ${at}`)),
    );
    const least = engines.node.replace('>=', '');
    expect([...asked]).toEqual(expect.arrayContaining([`node ${least}.0`, 'node 20', 'node 22', 'node 24']));
    for (const name of ['pnpm', 'vitest', 'jest'])
      expect([...asked].filter((each) => each.startsWith(name)).length, `rows of ${name}`).toBeGreaterThan(0);
  });

  it('[U-12] has Bun and Deno, with what each does otherwise', () => {
    for (const name of ['bun', 'deno'])
      expect(readRecorded().find(({ id }) => id === name)).toMatchObject({ ok: true, works: true });
    for (const name of ['Bun', 'Deno']) expect(readPage().text).toMatch(new RegExp(`^\\| ${name} \\|`, 'm'));
  });

  it('[U-11] is made again by one command', () => {
    expect(scripts['compat']).toBe('node test/compat/run.mjs');
  });
});
