import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { llmsText } from '../../scripts/llmsText.mjs';
import { publicNames } from '../../scripts/referenceCoverage.mjs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the pages for agents', () => {
  it('[U-6] llms.txt lists the pages as they are; `node scripts/llmsText.mjs --write` makes it so', () => {
    expect(read('llms.txt')).toBe(llmsText());
  });

  it('[U-6] the text of the API has every public name, what it is and where it is declared', () => {
    const sections = read('dist/api.md').split(/^## /m).slice(1);
    const told = Object.fromEntries(
      sections.map((section) => {
        const [entry = '', ...rest] = section.split('\n');
        return [entry, rest.filter((line) => line !== '')];
      }),
    );
    expect(Object.keys(told)).toEqual(Object.keys(publicNames()));
    const rows = Object.entries(publicNames()).flatMap(([entry, names]) =>
      names.map((name, at) => ({ name, row: told[entry]?.[at] ?? '' })),
    );
    const shape = /^- `(\w+)` \((types\/[\w/.]+):(\d+)\): \S.+$/;
    expect(rows.filter(({ name, row }) => shape.exec(row)?.[1] !== name)).toEqual([]);
    const astray = rows.filter(({ name, row }) => {
      const [, , file = '', line] = shape.exec(row) ?? [];
      return !read(`dist/${file}`).split('\n')[Number(line) - 1]?.includes(` ${name}`);
    });
    expect(astray).toEqual([]);
  });
});
