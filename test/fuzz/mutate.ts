import type { Chance } from './chance.ts';

/** Values that readers stumble over. */
const strange = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '-1',
  '1.5',
  '9007199254740993',
  '""',
  '[]',
  '{}',
  '[[[[[[]]]]]]',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u001b[31m"',
  '"__proto__"',
  '{"__proto__":{"a":1}}',
  '{"constructor":1}',
  '"\u202e"',
  '"a\\nb"',
];
const strangeBytes = [
  '\0',
  '\u001b[2J',
  '\r',
  '\n',
  '\r\n',
  '\ufeff',
  '\u2028',
  '%00',
  '%',
  '../',
  '--',
  '-',
  '=',
  ':',
  '"',
  "'",
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  '*',
  '$&',
  ' ',
  '\t',
  'é',
  '😀',
  '\x9b',
  'Infinity',
  'NaN',
  '1e309',
  '0x10',
].map((text) => Buffer.from(text));

/** Changes an input by chance, some times over. @param others - gives another input of the corpus. @param words - that its readers look for. */
export function mutate(
  input: Buffer,
  chance: Chance,
  others: () => Buffer,
  words: readonly string[],
  maxBytes: number,
): Buffer {
  let bytes = input;
  const times = 1 + (chance.next() < 0.5 ? 0 : chance.below(5));
  for (let time = 0; time < times; time++) {
    const changed = chance.next() < 0.45 ? changeJson(bytes, chance, others, words) : undefined;
    bytes = changed ?? changeBytes(bytes, chance, others, words);
  }
  return bytes.length > maxBytes ? bytes.subarray(0, maxBytes) : bytes;
}

function changeBytes(bytes: Buffer, chance: Chance, others: () => Buffer, words: readonly string[]): Buffer {
  const at = chance.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + Math.floor(chance.next() ** 4 * bytes.length));
  const put = (piece: Uint8Array, to = at): Buffer => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(to)]);
  switch (chance.below(10)) {
    case 0:
      return put(Buffer.from([chance.below(256)]), Math.min(bytes.length, at + 1));
    case 1:
      return put(Buffer.from([chance.below(256)]));
    case 2:
      return put(Buffer.alloc(0), end);
    case 3:
      // Several times: what grows faster than its input shows so.
      return put(
        Buffer.concat(Array.from({ length: 2 + Math.floor(chance.next() ** 6 * 400) }, () => bytes.subarray(at, end))),
        end,
      );
    case 4:
      return put(chance.of(strangeBytes));
    case 5:
      return put(Buffer.from(chance.of(words)));
    case 6: {
      const word = Buffer.from(chance.of(words));
      return put(word, Math.min(bytes.length, at + word.length));
    }
    case 7: {
      const other = others();
      const from = chance.below(other.length + 1);
      return put(other.subarray(from, from + chance.below(other.length - from + 1)), end);
    }
    case 8:
      return bytes.subarray(0, at);
    default:
      return changeLines(bytes, chance, others);
  }
}

/** Lines are left out, doubled, put elsewhere, or come from another input. */
function changeLines(bytes: Buffer, chance: Chance, others: () => Buffer): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const at = chance.below(lines.length);
  const kind = chance.below(4);
  const [line = ''] =
    kind < 3 ? lines.splice(at, kind === 2 ? 0 : 1) : [chance.of(others().toString('latin1').split('\n'))];
  if (kind === 1) lines.splice(chance.below(lines.length + 1), 0, line);
  else if (kind === 2) lines.splice(at, 0, lines[at] ?? '');
  else if (kind === 3) lines.splice(at, 0, line);
  return Buffer.from(lines.join('\n'), 'latin1');
}

/** Changes one value of a line that is JSON, or of the whole; undefined where there is none. */
function changeJson(bytes: Buffer, chance: Chance, others: () => Buffer, words: readonly string[]): Buffer | undefined {
  const text = bytes.toString('utf8');
  const whole = parsed(text);
  if (whole !== undefined) return Buffer.from(changedValue(whole, chance, others, words));
  const lines = text.split('\n');
  for (let tries = 0; tries < 3; tries++) {
    const at = chance.below(lines.length);
    const line = lines[at] ?? '';
    const prefix = /^[a-z]+: ?/.exec(line)?.[0] ?? '';
    const value = parsed(line.slice(prefix.length));
    if (value === undefined) continue;
    lines[at] = prefix + changedValue(value, chance, others, words);
    return Buffer.from(lines.join('\n'));
  }
  return undefined;
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Holder = Record<string | number, unknown>;

function changedValue(root: unknown, chance: Chance, others: () => Buffer, words: readonly string[]): string {
  const holders: Holder[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || holders.length > 200) return;
    holders.push(value as Holder);
    for (const each of Object.values(value)) collect(each);
  };
  collect(root);
  const holder = chance.of(holders);
  const keys = Object.keys(holder);
  const key = keys.length === 0 ? 'a' : chance.of(keys);
  const mark = `@${chance.below(1e9)}@`;
  let text: string | undefined;
  switch (chance.below(8)) {
    case 0:
    case 1:
      text = chance.of(strange);
      holder[key] = mark;
      break;
    case 2:
      holder[key] = chance.of(words);
      break;
    case 3:
      if (Array.isArray(holder)) holder.splice(Number(key) || 0, 1);
      else delete holder[key];
      break;
    case 4:
      if (Array.isArray(holder)) holder.push(holder[chance.below(holder.length)]);
      else set(holder, chance.of(words), holder[key]);
      break;
    case 5:
      holder[key] = chance.of(holders) === root ? null : structuredClone(chance.of(holders));
      break;
    case 6: {
      const value = holder[key];
      holder[key] =
        typeof value === 'string'
          ? value + chance.of(words)
          : typeof value === 'number'
            ? chance.of([0, -1, 1e21, value + 1, value * 1000, 0.5])
            : [value];
      break;
    }
    default: {
      const other = parsed(chance.of(others().toString('utf8').split('\n')));
      holder[key] = other ?? null;
    }
  }
  const written = JSON.stringify(root);
  return text === undefined ? written : written.replace(JSON.stringify(mark), () => text);
}

/** As JSON.parse does: `__proto__` is a name like any other. */
function set(holder: Holder, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
