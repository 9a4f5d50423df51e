// The table of events in docs/observability.md, from the types: prints it, or with --write puts it into the page.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tableIn } from './pageTable.mjs';

const root = new URL('..', import.meta.url);
const place = {
  page: 'docs/observability.md',
  begin: '<!-- events: node scripts/eventCatalogue.mjs --write -->\n',
  end: '<!-- end of events -->\n',
};

/** Every event of the catalogue: its name, when it fires, its fields, and what it is stored as. */
export function readCatalogue() {
  const catalogue = readFileSync(new URL('src/policy/facts/facts.ts', root), 'utf8');
  const types = partsOf(catalogue)
    .map((path) => readFileSync(new URL(path, root), 'utf8'))
    .join('\n');
  const records = readFileSync(new URL('src/store/record.ts', root), 'utf8');
  const shared = new Map(
    [...types.matchAll(/^(?:export )?interface (\w+Fact)(?: extends (\w+))? \{\n([\s\S]*?)^\}/gm)].map(
      ([, name, base, body]) => [name, { base, fields: fieldsIn(body) }],
    ),
  );
  const map = [...types.matchAll(/^export interface \w+Facts \{\n([\s\S]*?)^\}/gm)].map(([, part]) => part).join('\n');
  return entriesIn(map).map(({ name, comment, type }) => ({
    name,
    when: comment,
    fields: fieldsOf(type, shared),
    record: recordOf(records, name),
  }));
}

/** The files of the catalogue, in its order. */
function partsOf(catalogue) {
  const [, list = ''] = /^export interface FactMap\s+extends ([^{]*)\{/m.exec(catalogue) ?? [];
  return list.split(',').map((name) => {
    const [, path] = new RegExp(`import type \\{ ${name.trim()} \\} from '\\./(.*)'`).exec(catalogue) ?? [];
    return `src/policy/facts/${path}`;
  });
}

/** The table, a row an event. */
export function catalogueTable() {
  const rows = readCatalogue().map(({ name, when, fields, record }) => {
    const cells = [`\`${name}\``, when, fields.map(fieldText).join(', '), record === undefined ? '' : `\`${record}\``];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| event | when | fields | on record as |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** The page's table, as it is and as it should be. */
export function cataloguePage() {
  return tableIn(place, catalogueTable());
}

/** Fields of an event in their order: those it has in common with others stand before its own, or behind them. */
function fieldsOf(type, shared) {
  const [, before, own = '', after] = /^([^{]*)(?:\{\n?([\s\S]*)\})?([^}]*)$/.exec(type);
  const common = (part) => [...part.matchAll(/\w+Fact\b/g)].flatMap(([base]) => sharedFields(shared, base));
  return [...common(before), ...fieldsIn(own), ...common(after)];
}

function sharedFields(shared, name) {
  const { base, fields = [] } = shared.get(name) ?? {};
  return base === undefined ? fields : [...sharedFields(shared, base), ...fields];
}

/** The members of an interface, each with the comment before it; in a name that is a pattern `*` stands for what varies. */
function entriesIn(body) {
  const entry =
    /(?: {2}\/\*\* ([^\n]*) \*\/\n)?^ {2}(?:'([\w.]+)'|(\w+)|\[type: `([^`]+)`\]):\s*([\s\S]*?);\n(?=(?: {2}['/[\w]|\n|$))/gm;
  return [...body.matchAll(entry)].map(([, comment = '', quoted, plain, pattern, type]) => ({
    name: quoted ?? plain ?? pattern.replace('${string}', '*'),
    comment,
    type,
  }));
}

/** Fields of an object type, in one line or several. */
function fieldsIn(body) {
  const plain = body.replace(/\/\*\*[\s\S]*?\*\//g, '');
  return [...plain.matchAll(/(\w+)(\?)?:\s*([^;{}]+?)\s*(?:;|$)/g)].map(([, name, optional, type]) => ({
    name,
    isOptional: optional !== undefined,
    type: type
      .replace(/\s+/g, ' ')
      .replace(/ \| undefined$/, '')
      .replace(/^\| /, ''),
  }));
}

function fieldText({ name, isOptional, type }) {
  const label = `${name}${isOptional ? '?' : ''}`;
  return type === 'string' ? `\`${label}\`` : `\`${label}: ${type}\``;
}

function recordOf(records, name) {
  const text = name.replaceAll(/[.*]/g, '\\$&');
  const other = new RegExp(`\\n {2}'?${text}'?:\\s*(?:null|\\[\\s*'(\\w+)',\\s*'(\\w+)')`).exec(records);
  if (other !== null) return other[1] === undefined ? undefined : `${other[1]}/${other[2]}`;
  // As `rowOf` has it.
  const [category, ...words] = name.split('.').filter((word) => word !== '*' && word !== 'app_server');
  return `${category === 'call' ? 'integration' : category}/${words.join('_')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--write')) cataloguePage().write();
  else console.log(catalogueTable());
}
