import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const source = new URL('../../src/', import.meta.url);

/** The source files, by their paths. */
const files = new Map(
  readdirSync(source, { recursive: true, encoding: 'utf8' }).flatMap((path) =>
    path.endsWith('.ts') ? [[path, readFileSync(new URL(path, source), 'utf8')] as const] : [],
  ),
);

interface Interface {
  readonly path: string;
  readonly parents: readonly string[];
  readonly body: string;
}

const interfaces = new Map<string, Interface[]>();
for (const [path, text] of files)
  for (const [, name = '', head = '', body = ''] of text.matchAll(
    /^(?:export )?interface (\w+)([^{]*)\{\n([^]*?)^\}/gm,
  )) {
    const parents = [...head.matchAll(/(?:\bextends|,) +(?:Omit<|Partial<|Pick<)?\s*(\w+)/g)].map(
      ([, parent = '']) => parent,
    );
    interfaces.set(name, [...(interfaces.get(name) ?? []), { path, parents, body }]);
  }

/** What the comments of an interface and of its parents say of their members; of two of that name the one in the file is meant. */
function commentsOf(name: string, path: string): ReadonlyMap<string, string> {
  const known = interfaces.get(name) ?? [];
  const meant = known.find((each) => each.path === path) ?? known[0];
  if (meant === undefined) return new Map();
  const inherited = meant.parents.flatMap((parent) => (parent === name ? [] : [...commentsOf(parent, meant.path)]));
  const own = meant.body.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}readonly (\w+)\??:/gm);
  return new Map([...inherited, ...Array.from(own, ([, comment = '', member = '']) => [member, comment] as const)]);
}

/** The value of a literal, of a product, or of a constant of the same file; undefined of anything else. */
function valueOf(expression: string, text: string): string | number | undefined {
  if (/^[\d_.]+(?: \* [\d_.]+)*$/.test(expression))
    return expression.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
  if (/^('.*'|true|false|\[.*\])$/.test(expression)) return expression;
  if (expression === 'Number.POSITIVE_INFINITY') return 'Infinity';
  const [, name = '', member] = /^(\w+)(?:\.(\w+))?$/.exec(expression) ?? [];
  const within = member === undefined ? '' : `\\{[^}]*?\\b${member}: `;
  const found = new RegExp(`\\bconst ${name}\\b[^=]*= ${within}([^,;\\n]+)`).exec(text)?.[1];
  return name === '' || found === undefined ? undefined : valueOf(found, text);
}

const time = { s: 1000, min: 60_000, h: 3_600_000, days: 86_400_000 };
const units: Readonly<Record<string, number>> = { ...time, MiB: 1024 * 1024, GB: 1_000_000_000 };

/** Whether a comment says a value first: `5000`, `10 s`, `67108864 (64 MB)`, `'safe'`. */
function says(told: string, value: string | number): boolean {
  if (typeof value === 'string') return told.startsWith(value);
  const [, digits = '', unit = ''] = /^(\d[\d,]*)(?: (s|min|h|days|MiB|GB)\b)?/.exec(told) ?? [];
  return digits !== '' && Number(digits.replaceAll(',', '')) * (units[unit] ?? 1) === value;
}

/** The text with the brackets of its strings made harmless, so that brackets can be counted. */
const countable = (text: string): string =>
  text.replaceAll(/'(?:[^'\\\n]|\\.)*'/g, (quoted) => quoted.replaceAll(/[{}()[\],]/g, '_'));

/** Where the bracket opens that is closed at `end`. */
function openedAt(text: string, end: number): number {
  let depth = 0;
  for (let at = end; at >= 0; at--) {
    if ('})]'.includes(text[at] ?? '')) depth++;
    else if ('{(['.includes(text[at] ?? '') && --depth === 0) return at;
  }
  return 0;
}

/** The rows of a table between its brackets: `name: of(…)`. */
function rowsOf(table: string): readonly string[] {
  const rows = [''];
  let depth = 0;
  for (const char of table) {
    if ('{(['.includes(char)) depth++;
    if ('})]'.includes(char)) depth--;
    if (char === ',' && depth === 0) rows.push('');
    else rows[rows.length - 1] += char;
  }
  return rows;
}

/** Each default in a key table, with what the comment of its option says of it. */
const defaults = [...files].flatMap(([path, text]) => {
  const brackets = countable(text);
  return [...brackets.matchAll(/\} satisfies KeysOf<(?:Omit<|Partial<)?(\w+)/g)].flatMap(({ index, 1: type = '' }) => {
    const comments = commentsOf(type, path);
    // A type that is put together from others has no comments of its own.
    if (comments.size === 0) return [];
    return rowsOf(brackets.slice(openedAt(brackets, index) + 1, index)).flatMap((row) => {
      const [, option = '', kind, given = ''] = /^\s*(?:\/\/.*\s*)*(\w+): (\w+)\(([^]*)\)$/.exec(row) ?? [];
      const [, expression] = /\b(?:default|inherited): (\[.*?\]|[^,}\n]+)/.exec(given) ?? [];
      const hasNone = expression === undefined || expression === '[]' || kind === 'section';
      const value = hasNone ? undefined : valueOf(expression.trim(), text);
      const told = /@defaultValue ([^]*)/.exec(comments.get(option) ?? '')?.[1]?.trim();
      return value === undefined ? [] : [{ option: `src/${path}: ${type}.${option}`, value, told }];
    });
  });
});

describe('the comment of an option', () => {
  it('[R-17] says the default that its key table has', () => {
    const wrong = defaults
      .filter(({ told, value }) => told === undefined || !says(told, value))
      .map(
        ({ option, told, value }) => `${option} has the default ${value}; its @defaultValue says ${told ?? 'nothing'}`,
      );
    expect(wrong).toEqual([]);
  });

  it('[R-17] is found for most that have one', () => {
    expect(defaults.length).toBeGreaterThan(110);
  });
});
