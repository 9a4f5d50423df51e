// Finds every pattern that stands in the source and asks recheck how long it may take. Exits 1 for one that takes exponential time; those that take the
// square of a length, or more, are listed by --all: test/security/patterns.test.ts gives what reads the words of others long hostile texts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from 'recheck';
import { parseSync } from 'rolldown/utils';
import { floors } from './rooms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tops = [...new Set(floors.flat().map(({ room }) => room.split('/')[0]))];
const files = tops
  .flatMap((top) => readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((name) => `${top}/${name}`))
  .filter((name) => /\.ts$/.test(name));
const patterns = new Map(files.flatMap(patternsIn).map((each) => [`/${each.pattern}/${each.flags}`, each]));

const left = [...patterns];
const counts = {};
const slow = [];
await Promise.all([judge(), judge()]);
for (const [text, { where }, { complexity }] of slow)
  if (complexity.type === 'exponential' || process.argv.includes('--all'))
    console.log(`${where}: ${complexity.summary}: ${text}`);
console.log(
  `${patterns.size} patterns: ${Object.entries(counts)
    .map(([of, count]) => `${count} ${of}`)
    .join(', ')}`,
);
process.exitCode = slow.some(([, , { complexity }]) => complexity.type === 'exponential') ? 1 : 0;

async function judge() {
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [text, found] = next;
    const ask = (checker) => check(found.pattern, found.flags, { checker, timeout: 2000 });
    const proven = await ask('automaton');
    // Not every form of a pattern is one of an automaton.
    const verdict = proven.status === 'unknown' ? await ask('fuzz') : proven;
    const { status, complexity } = verdict;
    const of = status === 'vulnerable' ? complexity.type : status;
    counts[of] = (counts[of] ?? 0) + 1;
    if (status === 'vulnerable') slow.push([text, found, verdict]);
  }
}

function patternsIn(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [];
  const walk = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if (node.type === 'Literal' && node.regex !== undefined)
      found.push({ ...node.regex, where: `${file}:${text.slice(0, node.start).split('\n').length}` });
    for (const each of Object.values(node)) walk(each);
  };
  walk(parseSync(file, text).program);
  return found;
}
