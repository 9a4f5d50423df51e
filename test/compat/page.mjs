import { readFileSync, writeFileSync } from 'node:fs';

const page = new URL('../../docs/compatibility.md', import.meta.url);
const recorded = new URL('recorded.json', import.meta.url);
const begin = '<!-- compat: npm run compat -- --write -->\n';
const end = '<!-- end of compat -->\n';

/** What a run of all rows gave, as it is kept. */
export const readRecorded = () => JSON.parse(readFileSync(recorded, 'utf8'));

/** The table of a run, a row each. */
export function tableOf(results) {
  const cells = results.map(
    (row) => `| ${named(row.with)} | ${row.what} | ${row.works ? 'works' : '**does not**'}: ${row.note} |`,
  );
  return ['| with | what was run | result |', '|---|---|---|', ...cells, ''].join('\n');
}

/** The page, and its table as it is there. */
export function readPage() {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  return { text, table: text.slice(from, to), from, to };
}

/** Keeps a run, and puts its table into the page. */
export function putPage(results) {
  writeFileSync(recorded, `${JSON.stringify(results, undefined, 2)}\n`);
  const { text, from, to } = readPage();
  writeFileSync(page, text.slice(0, from) + tableOf(results) + text.slice(to));
}

const names = { node: 'Node', bun: 'Bun', deno: 'Deno', typescript: 'TypeScript', vitest: 'Vitest', jest: 'Jest' };

function named(versions) {
  return versions
    .split(', ')
    .map((each) => each.replace(/^\w+/, (name) => names[name] ?? name))
    .join(', ');
}
