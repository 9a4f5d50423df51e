// The reference of the API as text: every public name with the first sentence of its comment, and where its declaration stands.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicNames } from './referenceCoverage.mjs';

/**
 * Writes `api.md` into a built tree.
 * @param {string} tree - as `dist/`, with its `types/`
 */
export function writeApiIndex(tree) {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const shared = declarationsOf(tree, 'types/shared.d.ts');
  const sections = Object.entries(publicNames()).map(([entry, names]) => {
    const file = exports[entry.replace('unwedge', '.')].types.replace('./dist/', '');
    const own = declarationsOf(tree, file);
    return [`## ${entry}`, '', ...names.map((name) => rowOf(name, own.get(name) ?? shared.get(name))), ''];
  });
  const head = [
    '# The API of unwedge, name by name',
    '',
    'Each name as it is imported, what it is, and the file and line of its declaration beside this page, whose comments have the shapes, units,',
    'bounds, defaults and errors.',
    '',
  ];
  writeFileSync(join(tree, 'api.md'), [...head, ...sections.flat()].join('\n'));
}

function rowOf(name, found) {
  return found === undefined ? `- \`${name}\`` : `- \`${name}\` (${found.place}): ${found.says}`;
}

/** What a file of declarations declares at its top level, by name; overloads by their first. */
function declarationsOf(tree, file) {
  const text = readFileSync(join(tree, file), 'utf8');
  const form = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const|enum) (\w+)/gm;
  const found = new Map();
  for (const match of text.matchAll(form)) {
    const [, name] = match;
    if (found.has(name)) continue;
    const before = text.slice(0, match.index);
    const place = `${file}:${before.split('\n').length}`;
    found.set(name, { place, says: firstSentence(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(before)?.[1] ?? '') });
  }
  return found;
}

function firstSentence(comment) {
  const text = comment
    .replace(/^\s*\* ?/gm, '')
    .split(/^@|\n\s*\n/m)[0]
    .replace(/\{@link ([^}]*)\}/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.*?[.:;](?= |$)/.exec(text)?.[0].replace(/[:;]$/, '.') ?? text;
}
