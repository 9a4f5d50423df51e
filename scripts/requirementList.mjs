// The list in docs/requirements.md and the test titles that name its IDs.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const statuses = ['planned', 'built', 'withdrawn'];

/** Requirements with the tests that name them, titles that name an ID nobody knows, and what is built without a test. */
export function judgeRequirements(requirements = readRequirements(), tests = readTests()) {
  const known = new Set(requirements.map(({ id }) => id));
  const rows = requirements.map((requirement) => ({
    ...requirement,
    tests: tests.filter(({ ids }) => ids.includes(requirement.id)),
  }));
  return {
    rows,
    unknown: tests.flatMap(({ ids, ...test }) => ids.filter((id) => !known.has(id)).map((id) => ({ id, ...test }))),
    untested: rows.filter(({ status, tests }) => status === 'built' && tests.length === 0).map(({ id }) => id),
  };
}

export function readRequirements() {
  return parseRequirements(readFileSync(join(root, 'docs/requirements.md'), 'utf8'));
}

export function readTests() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort((one, other) => (one < other ? -1 : 1))
    .flatMap((name) => {
      const path = join(root, 'test', name);
      return parseTitles(readFileSync(path, 'utf8'), relative(root, path));
    });
}

/** Rows `| ID | status | text … |` of the tables in a Markdown text. */
export function parseRequirements(markdown) {
  const found = new Map();
  for (const [, id, status, text] of markdown.matchAll(/^\| ([A-Z]-\d+) \| ([^|]*) \| (.*) \|$/gm)) {
    if (!statuses.includes(status)) {
      throw new RangeError(`Expected the status of ${id} to be one of ${statuses.join(', ')}, got "${status}"`);
    }
    if (found.has(id)) throw new RangeError(`${id} is listed twice`);
    found.set(id, { id, status, text });
  }
  return [...found.values()];
}

// A title is text given first to a call; with `each` that call follows a table, so what is called is not asked.
const titles = /^(?!\s*\/\/)(.*?)\(\s*(['"`])((?:\\.|(?!\2)[^\\\n])*\[[A-Z]-\d+(?:\\.|(?!\2)[^\\\n])*)\2/gm;
const switchedOff = /\.(?:skip|todo)$/;

/** Test titles of a source that name IDs, as `[G-3]` or `[G-3, I-2]`. Tests that are switched off prove nothing. */
export function parseTitles(source, file) {
  return [...source.matchAll(titles)]
    .filter(([, before]) => !switchedOff.test(before))
    .map(({ 3: title, index }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      title,
      ids: [...title.matchAll(/\[([A-Z]-\d+(?:, ?[A-Z]-\d+)*)\]/g)].flatMap(([, ids]) => ids.split(/, ?/)),
    }))
    .filter(({ ids }) => ids.length > 0);
}
