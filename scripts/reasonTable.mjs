// The table of reasons in docs/failure-modes.md, from src/policy/failures/failure.ts: prints it, or with --write puts it into the page.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tableIn } from './pageTable.mjs';

const place = {
  page: 'docs/failure-modes.md',
  begin: '<!-- reasons: node scripts/reasonTable.mjs --write -->\n\n',
  end: '\n<!-- end of reasons -->\n',
};

/** Every reason with its words. Read from the text: the oldest Node that this runs on imports no TypeScript. */
export function readReasons() {
  const source = readFileSync(new URL('../src/policy/failures/failure.ts', import.meta.url), 'utf8');
  const [, list = ''] = /^export const failureReasons = \{\n([\s\S]*?)^\}/m.exec(source) ?? [];
  return Object.fromEntries(
    [...list.matchAll(/^ {2}(\w+):\s*(['"])(.*)\2,$/gm)].map(([, name, , what]) => [name, what]),
  );
}

/** The page's table, as it is and as it should be. */
export function reasonsPage() {
  const rows = Object.entries(readReasons()).map(([reason, what]) => `| \`${reason}\` | ${what} |\n`);
  return tableIn(place, `| reason | what happened |\n|---|---|\n${rows.join('')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const table = reasonsPage();
  if (process.argv.includes('--write')) table.write();
  else console.log(table.shouldBe);
}
