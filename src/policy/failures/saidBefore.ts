import type { FailureFacts } from './failure.ts';

/** Errors that are remembered, and the longest of them in characters of all that they say. */
const mostKnown = 64;
const longestKey = 2_000;
const deepest = 3;

/** Prototypes of the language, by which nothing of an error is read that is not its own. */
const plain: ReadonlySet<unknown> = new Set(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError].map(({ prototype }) => prototype),
);

/** Tells a proxy from what it stands for; undefined in the dashboard's page, which has no such thing and classifies nothing. */
const isProxy = (globalThis as { readonly process?: NodeJS.Process }).process?.getBuiltinModule('node:util').types
  .isProxy;

/** Gives all that an error says, as one text; undefined where it says more than words and numbers, or too much. */
export function keyOfError(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > deepest) return undefined;
  const prototype: unknown = Object.getPrototypeOf(error);
  if (!plain.has(prototype)) return undefined;
  // What a proxy has, or a getter gives, may be another thing the next time.
  if (isProxy?.(error) === true) return undefined;
  let key = (prototype as Error).name;
  for (const name of Object.getOwnPropertyNames(error)) {
    if (name === 'stack') continue;
    const own = Object.getOwnPropertyDescriptor(error, name);
    if (own === undefined || own.get !== undefined) return undefined;
    const value: unknown = own.value;
    const said = typeof value === 'object' && value !== null ? keyOfError(value, depth + 1) : String(value);
    if (said === undefined || key.length + said.length > longestKey) return undefined;
    // With their lengths, or a message could say what the fields of another error do.
    key += `|${name.length}:${name}${typeof value}${said.length}:${said}`;
  }
  return key;
}

const known = new Map<string, FailureFacts>();

/** The facts of an error of which this is the key; failures come in floods, and to read the words of one takes a hundred patterns. */
export function knownFacts(key: string, cause: unknown, find: () => FailureFacts): FailureFacts {
  const found = known.get(key) ?? find();
  // A hint ages: facts that have one are read anew each time.
  if (found.cause !== undefined && found.retryAfterMs === undefined) {
    if (known.size >= mostKnown) known.clear();
    known.set(key, { ...found, cause: undefined });
  }
  if (found.cause !== undefined) return found;
  return Object.assign({}, found, { cause });
}
