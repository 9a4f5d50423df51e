import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { readReasons, reasonsPage } from '../../scripts/reasonTable.mjs';
import { failureReasons } from '../../src/policy/failure.ts';
import { differingRows } from '../support/differingRows.ts';

const root = new URL('../..', import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, root), 'utf8');
const snippet = /^```js\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm;

/** The programs of a page, each with the output shown below it. */
const snippetsOf = (page: string): { readonly code: string; readonly output: string }[] =>
  [...read(page).matchAll(snippet)].map(([, code = '', output = '']) => ({ code, output }));

describe.each([
  'docs/supervision.md',
  'docs/http-apis.md',
  'docs/remote-mcp.md',
  'docs/model-api.md',
  'docs/never-twice.md',
])('%s', (page) => {
  const snippets = snippetsOf(page);

  it.each(snippets)('shows what its program prints, no. %$', async ({ code, output }) => {
    const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    expect(`${stdout}\n`).toBe(output);
  });

  it('shows no program without its output', () => {
    expect(snippets).toHaveLength(read(page).split('```js\n').length - 1);
    expect(snippets.length).toBeGreaterThan(0);
  });

  it('is at most 250 lines long, without the tables that are made', () => {
    const text = read(page).replace(/^<!-- ([\w. ]+):.*-->\n[\s\S]*?<!-- end of \1 -->\n/gm, '');
    expect(text.split('\n').length).toBeLessThanOrEqual(250);
  });
});

describe('docs/streams.md', () => {
  const page = readFileSync(new URL('docs/streams.md', root), 'utf8');

  it.each([...page.matchAll(snippet)].map(([, code = '', output = '']) => ({ code, output })))(
    '[U-6] [R-13] shows what its program prints, no. %$',
    async ({ code, output }) => {
      const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
      expect(`${stdout}\n`).toBe(output);
    },
  );

  it('[U-6] shows no program without its output', () => {
    expect([...page.matchAll(snippet)]).toHaveLength(page.split('```js\n').length - 1);
  });
});

describe('docs/failure-modes.md', () => {
  it('has every reason of a failure, in the words of its type; else: node scripts/reasonTable.mjs --write', () => {
    expect(readReasons()).toEqual(failureReasons);
    expect(differingRows(reasonsPage())).toEqual([]);
  });
});
