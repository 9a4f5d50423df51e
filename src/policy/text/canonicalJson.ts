/**
 * A value as JSON with the keys of its objects in order: the same text for values that are equal as JSON. Undefined for what is none (a
 * function, a cycle, a BigInt). Never throws.
 */
export function canonicalJson(value: unknown): string | undefined {
  try {
    // First as it is: a cycle is found here, and what says itself how it is written has said so.
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.stringify(JSON.parse(text), inOrder);
  } catch {
    return undefined;
  }
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // Made of entries, so that a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
