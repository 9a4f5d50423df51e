import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { failureReasons } from '../../src/policy/failure.ts';

const root = new URL('../..', import.meta.url);
const supervision = readFileSync(new URL('docs/supervision.md', root), 'utf8');
const snippet = /^```js\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm;

/** The programs of a page, each with the output shown below it. */
const snippets = [...supervision.matchAll(snippet)].map(([, code = '', output = '']) => ({ code, output }));

describe('docs/supervision.md', () => {
  it.each(snippets)('shows what its program prints, no. %$', async ({ code, output }) => {
    const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root });
    expect(`${stdout}\n`).toBe(output);
  });

  it('shows no program without its output', () => {
    expect(snippets).toHaveLength(supervision.split('```js\n').length - 1);
    expect(snippets.length).toBeGreaterThan(0);
  });

  it('is at most 250 lines long', () => {
    expect(supervision.split('\n').length).toBeLessThanOrEqual(250);
  });
});

describe('docs/failure-modes.md', () => {
  it('has every reason of a failure, in the words of its type', () => {
    const page = readFileSync(new URL('docs/failure-modes.md', root), 'utf8');
    const rows = Object.entries(failureReasons).map(([reason, what]) => `| \`${reason}\` | ${what} |`);
    expect(page).toContain(`| reason | what happened |\n|---|---|\n${rows.join('\n')}\n\n`);
  });
});
