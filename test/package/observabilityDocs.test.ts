import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { cataloguePage, readCatalogue } from '../../scripts/eventCatalogue.mjs';
import { factTypes } from '../../src/policy/facts/factTypes.ts';
import { metricNames } from '../../src/policy/records/metrics.ts';
import { storedTypes } from '../../src/store/record.ts';
import { differingRows } from '../support/differingRows.ts';

const root = new URL('../..', import.meta.url);
const text = readFileSync(new URL('docs/observability.md', root), 'utf8');
const snippets = [...text.matchAll(/^```js\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm)];

describe('docs/observability.md', () => {
  it('[O-4] has the table of events that the types make; else: node scripts/eventCatalogue.mjs --write', () => {
    expect(differingRows(cataloguePage())).toEqual([]);
  });

  it('[O-4] lists every event, with its fields, when it fires and what it is stored as', () => {
    const catalogue = readCatalogue();
    expect(catalogue.map(({ name }) => name).sort()).toEqual([...factTypes].sort());
    expect(catalogue.filter(({ when, fields }) => when === '' || fields.length === 0)).toEqual([]);
    const stored = catalogue.filter(({ record }) => record !== undefined).map(({ name }) => name);
    expect(stored.sort()).toEqual([...storedTypes].sort());
  });

  it('[O-11] has a row of every metric; those of tools are the same', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `unwedge_'));
    const names = metricNames.filter((name) => !/^unwedge_tool_(?!circuit)/.test(name));
    expect(names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))).toEqual([]);
  });

  it('[U-3] [O-11] shows what its program prints', async () => {
    expect(snippets).toHaveLength(5);
    for (const [, code = '', output] of snippets) {
      const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
      expect(`${stdout}\n`).toBe(output);
    }
  });
});
