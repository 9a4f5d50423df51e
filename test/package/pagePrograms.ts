import { readFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url);

/** Pages whose programs are run as they stand. */
export const pagesWithPrograms = [
  'AGENTS.md',
  'docs/supervision.md',
  'docs/http-apis.md',
  'docs/remote-mcp.md',
  'docs/model-api.md',
  'docs/agents-in-tests.md',
  'docs/never-twice.md',
  'docs/streams.md',
];

export const readPage = (page: string): string => readFileSync(new URL(page, root), 'utf8');

/** The programs of a page, each with the output shown below it. */
export const programsOf = (page: string): { readonly code: string; readonly output: string }[] =>
  [...readPage(page).matchAll(/^```js\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```/gm)].map(
    ([, code = '', output = '']) => ({ code, output }),
  );
