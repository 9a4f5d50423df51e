/** Limits on how far causes and aggregates are followed, and how many errors are looked at; both can be cyclic. */
const deepest = 8;
const most = 32;

/** Longest message for people, in characters. */
export const longestMessage = 500;
/** Longest beginning and end of a long text that are looked at, in characters each: a stack of output tells most at its end. */
const longestHalf = 4000;

/** A property of anything. Never throws: getters of foreign errors may. */
export function read(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** A property of anything when it is a string. */
export function readString(value: unknown, key: string): string | undefined {
  const found = read(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** Message of anything, empty where it has none; of a long one both ends, so that no pattern gets more than they are. */
export function readMessage(value: unknown): string {
  return bothEnds(readString(value, 'message') ?? '');
}

/** A property of anything when it is a whole number. */
export function readInteger(value: unknown, key: string): number | undefined {
  const found = read(value, key);
  return typeof found === 'number' && Number.isInteger(found) ? found : undefined;
}

/** Names under which errors keep the one that they are about. */
const inner = [
  'cause',
  'original',
  'originalError',
  'parent',
  'reason',
  'lastError',
  'error',
  'innerError',
  'detail',
  'exception',
];

/** The error, its causes, and what its aggregates hold, nearest first. */
export function errorChain(error: unknown): readonly unknown[] {
  const chain = new Set<unknown>();
  const visit = (each: unknown, depth: number): void => {
    if (each === undefined || each === null || depth > deepest || chain.size >= most || chain.has(each)) return;
    chain.add(each);
    for (const key of inner) {
      const found = read(each, key);
      // A word under such a name is a code; as a cause it is thrown like any other value.
      if (key === 'cause' || typeof found === 'object') visit(found, depth + 1);
    }
    const errors = read(each, 'errors');
    if (Array.isArray(errors)) for (const one of errors.slice(0, deepest)) visit(one, depth + 1);
  };
  visit(error, 0);
  return [...chain];
}

/** Returns one line for people: the first message of the chain, and the causes it does not name itself; empty when there is none. */
export function messageOf(chain: readonly unknown[]): string {
  let message = '';
  for (const each of chain) {
    const own = oneLine(ownText(each));
    if (own !== '' && !message.includes(own)) message = message === '' ? own : `${message}: ${own}`;
    if (message.length >= longestMessage) break;
  }
  return message.slice(0, longestMessage);
}

/**
 * All that the error channels of the chain say, each on lines of its own: messages and stderr, no other output.
 * @param bodies - what the answers say that the errors carry.
 */
export function textOf(chain: readonly unknown[], bodies: readonly string[] = []): string {
  const texts: string[] = [];
  const add = (text: string): void => {
    // A word that stands within a sentence is not said by itself.
    if (text !== '' && !texts.some((known) => known.includes(text))) texts.push(bothEnds(text));
  };
  for (const each of chain) {
    add(ownText(each));
    add(readString(each, 'stderr') ?? '');
  }
  for (const text of bodies) add(text);
  return bothEnds(texts.join('\n'));
}

function ownText(error: unknown): string {
  if (typeof error === 'string' || typeof error === 'number') return String(error);
  return readString(error, 'message') ?? readString(read(error, 'error'), 'message') ?? '';
}

function oneLine(text: string): string {
  return text
    .slice(0, longestHalf)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function bothEnds(text: string): string {
  return text.length <= 2 * longestHalf ? text : `${text.slice(0, longestHalf)}\n${text.slice(-longestHalf)}`;
}
