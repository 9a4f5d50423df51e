import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/rooms.mjs';

const root = new URL('../../', import.meta.url);

/** The source files, by their paths. */
const files = new Map(sourceFiles().map((path) => [path, readFileSync(new URL(path, root), 'utf8')] as const));

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
  const [, digits = '', unit = ''] = /^(\d[\d,]*(?:\.\d+)?)(?: (s|min|h|days|MiB|GB)\b)?/.exec(told) ?? [];
  return digits !== '' && Number(digits.replaceAll(',', '')) * (units[unit] ?? 1) === value;
}

/** The text with the brackets of its strings and comments made harmless, so that brackets can be counted; as long as before. */
const countable = (text: string): string =>
  text
    .replaceAll(/\b\w+<[^()\n]*>\(/g, (typed) => typed.replaceAll(',', '_'))
    .replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, (quoted) =>
      quoted.replaceAll(/[{}()[\],]/g, '_'),
    );

/** Finds the bracket that closes the one at `start`. */
function closedAt(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if ('{(['.includes(text[at] ?? '')) depth++;
    else if ('})]'.includes(text[at] ?? '') && --depth === 0) return at;
  }
  return text.length;
}

interface Row {
  readonly name: string;
  /** What stands for its key. */
  readonly key: string;
  /** Its own comment; undefined where it has none. */
  readonly comment: string | undefined;
}

/** The rows of the table that opens at `start`, but for what it takes from other tables. */
function rowsOf(text: string, start: number): readonly Row[] {
  const brackets = countable(text);
  const end = closedAt(brackets, start);
  const rows: Row[] = [];
  let [from, depth] = [start + 1, 0];
  for (let at = from; at <= end; at++) {
    const char = brackets[at] ?? '';
    if (depth === 0 && (char === ',' || at === end)) {
      const [, comments = '', name, key = ''] =
        /^((?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*)(\w+)(?:: ([^]*))?$/.exec(text.slice(from, at)) ?? [];
      const comment = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(comments)?.[1];
      if (name !== undefined) rows.push({ name, key: key.trim(), comment });
      from = at + 1;
    }
    if ('{(['.includes(char)) depth++;
    if ('})]'.includes(char)) depth--;
  }
  return rows;
}

/** The rows of a table of a file. */
function tableOf(text: string, table: string): readonly Row[] {
  const found = new RegExp(`\\bconst ${table} = \\{`).exec(text);
  return found === null ? [] : rowsOf(text, found.index + found[0].length - 1);
}

/** Each key of a table that a type is derived from. */
const derived = [...files].flatMap(([path, text]) =>
  [...text.matchAll(/\binterface (\w+)[^{]*?\b(?:Given|Made)<typeof (\w+)>/g)].flatMap(([, type = '', table = '']) =>
    tableOf(text, table).map(({ name, key, comment = commentsOf(type, path).get(name) }) => {
      return { name, key, comment, path, text, type };
    }),
  ),
);

/** Each key of a table whose type is written apart. */
const apart = [...files].flatMap(([path, text]) =>
  [
    ...text.matchAll(/\bconst (\w+) = \{(?=(?:(?!\n\}|\n\n)[^])*\} satisfies KeysOf<(?:Omit<|Partial<)?(\w+))/g),
  ].flatMap(([, table = '', type = '']) => {
    const comments = commentsOf(type, path);
    // A type that is put together from others has no comments of its own.
    if (comments.size === 0) return [];
    return tableOf(text, table).map((row) => ({ ...row, comment: comments.get(row.name), path, text, type }));
  }),
);

/** Each default in a key table, with what the comment of its option says of it. */
const defaults = [...derived, ...apart].flatMap(({ name, key, comment = '', path, text, type }) => {
  const [, kind, given = ''] = /^(\w+)\(([^]*)\)$/.exec(key) ?? [];
  const [, expression] = /\b(?:default|inherited): (\[.*?\]|[^,}\n]+)/.exec(given) ?? [];
  const hasNone = expression === undefined || expression === '[]' || kind === 'section';
  const value = hasNone ? undefined : valueOf(expression.trim(), text);
  const told = /@defaultValue ([^]*)/.exec(comment)?.[1]?.trim();
  return value === undefined ? [] : [{ option: `${path}: ${type}.${name}`, value, told }];
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

  it('[R-17] stands on each key that a type is derived from: editors and the reference have no other', () => {
    const bare = derived
      .filter(({ comment = '' }) => comment.trim() === '')
      .map(({ path, type, name }) => `${path}: ${type}.${name}`);
    expect(bare).toEqual([]);
  });

  it('[R-17] is looked for on most options', () => {
    expect(derived.length).toBeGreaterThan(300);
  });
});
