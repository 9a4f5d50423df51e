import JSON5 from 'json5';

/** A place in a text, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

type Path = readonly (string | number)[];

/** No configuration is as deep; what is, has no places. */
const deepest = 50;

const space = /(?:\s|\/\/.*(?!.)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;
const string = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y;
const bare = /[^\s,:{}[\]"'/]+/y;

/**
 * Finds where keys stand in a text that JSON5 could read: of a path the key itself, else the nearest one above it.
 * Undefined for what is at the top.
 */
export function createLocator(text: string): (path: Path) => Position | undefined {
  let found: ReadonlyMap<string, number> | undefined;
  const positionOf = createPositions(text);
  return (path) => {
    found ??= offsetsIn(text);
    for (let length = path.length; length > 0; length--) {
      const offset = found.get(JSON.stringify(path.slice(0, length)));
      if (offset !== undefined) return positionOf(offset);
    }
    return undefined;
  };
}

/** A key that an object has more than once. */
export interface RepeatedKey {
  readonly path: Path;
  readonly first: Position;
  /** Position of the one that counts. */
  readonly last: Position;
}

/** The keys that are given more than once in a text that JSON5 could read. */
export function repeatedKeys(text: string): readonly RepeatedKey[] {
  const repeated: RepeatedKey[] = [];
  const positionOf = createPositions(text);
  offsetsIn(text, (path, first, last) => {
    repeated.push({ path, first: positionOf(first), last: positionOf(last) });
  });
  return repeated;
}

/** Finds places of offsets; the lines are looked for once. */
function createPositions(text: string): (offset: number) => Position {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= [0, ...Array.from(text.matchAll(/\r\n|[\n\r\u2028\u2029]/g), ({ index, 0: end }) => index + end.length)];
    let [from, to] = [0, starts.length];
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if ((starts[middle] ?? 0) <= offset) from = middle;
      else to = middle;
    }
    return { line: from + 1, column: offset - (starts[from] ?? 0) + 1 };
  };
}

/** Finds where each key and each item begins. Tells of each key that an object has more than once, when the object ends. */
function offsetsIn(
  text: string,
  onRepeated?: (path: Path, first: number, last: number) => void,
): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  let at = 0;

  function take(pattern: RegExp): string {
    pattern.lastIndex = at;
    const [word = ''] = pattern.exec(text) ?? [];
    at += word.length;
    return word;
  }

  /** Tells whether the next character that counts is this one; then it is taken. */
  function takes(character: string): boolean {
    take(space);
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function members(path: Path, end: '}' | ']'): void {
    const firsts = new Map<string | number, number>();
    const repeats = new Map<string | number, number>();
    for (let index = 0; at < text.length && !takes(end); index++) {
      const start = at;
      const key = end === ']' ? index : keyOf(take(string) || take(bare));
      const inner = [...path, key];
      // The last one of a key that is given twice counts.
      offsets.set(JSON.stringify(inner), start);
      if (firsts.has(key)) repeats.set(key, start);
      else if (end === '}') firsts.set(key, start);
      if (end === '}') takes(':');
      value(inner);
      takes(',');
    }
    for (const [key, last] of repeats) onRepeated?.([...path, key], firsts.get(key) ?? last, last);
  }

  function value(path: Path): void {
    if (path.length > deepest) at = text.length;
    if (takes('{')) members(path, '}');
    else if (takes('[')) members(path, ']');
    else if (take(string) === '' && take(bare) === '') at++;
  }

  if (text.startsWith('\uFEFF')) at = 1;
  value([]);
  return offsets;
}

function keyOf(word: string): string {
  return /^["']/.test(word) ? JSON5.parse<string>(word) : word;
}
