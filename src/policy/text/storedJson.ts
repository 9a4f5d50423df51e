/** Longest text kept of one string, in characters. */
export const maxTextChars = 2_000;
/** Longest metadata kept of one event, in bytes of JSON. */
export const maxMetadataBytes = 16_384;

/** Most items kept of one list, and fields of one object. */
export const maxEntries = 100;

const maxDepth = 8;

/**
 * Metadata as JSON that is at most {@link maxMetadataBytes} long; of what is too much, a part and a mark remain. Secrets are masked before: what is cut here
 * holds none. Never throws.
 */
export function boundedJson(metadata: Readonly<Record<string, unknown>>): string {
  // Escapes make JSON longer than the text it carries; the smallest budget fits even if every character is escaped.
  for (const budget of [maxMetadataBytes, maxMetadataBytes / 2, maxMetadataBytes / 8]) {
    try {
      const json = JSON.stringify(isSmall(metadata) ? metadata : new Walk(budget).value(metadata, 0));
      // A character takes three bytes at most: most need not be counted.
      if (json.length * 3 <= maxMetadataBytes || Buffer.byteLength(json) <= maxMetadataBytes) return json;
    } catch {
      // A getter or a proxy that throws in a way the walk does not expect: nothing of it can be trusted.
      break;
    }
  }
  return '{"truncated":true}';
}

/** Writes what was handed in as JSON; where it cannot be written as such, words that say so in its place. Never throws. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it throws when it is read';
    return JSON.stringify({ notKept: `This could not be written as JSON: ${reason}` });
  }
}

/** The value of a JSON text, or undefined for a text that is none. */
export function fromJson(text: unknown): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(String(text)) as unknown };
  } catch {
    return undefined;
  }
}

/** A text of at most {@link maxTextChars} characters. */
export function boundedText(text: string): string {
  return text.length <= maxTextChars ? text : `${text.slice(0, maxTextChars)}…`;
}

/** Tells whether it is short values of which nothing is to be cut, as most events are: even if each character were escaped. */
export function isSmall(metadata: Readonly<Record<string, unknown>>): boolean {
  let left = maxTextChars;
  for (const name in metadata) {
    const value = metadata[name];
    left -= 8 + name.length;
    if (typeof value === 'string') left -= value.length;
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return false;
    } else if (value !== null && value !== undefined && typeof value !== 'boolean') return false;
    if (left < 0) return false;
  }
  return true;
}

/** A walk over one value: what it may still keep, and where it is. */
class Walk {
  readonly #above: object[] = [];
  #left: number;

  constructor(budget: number) {
    this.#left = budget;
  }

  value(value: unknown, depth: number): unknown {
    this.#left -= 8;
    switch (typeof value) {
      case 'string':
        return this.#cut(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'bigint':
        return this.#cut(String(value));
      case 'boolean':
      case 'undefined':
        return value;
      case 'object':
        return value === null ? null : this.#object(value, depth);
      case 'function':
      case 'symbol':
        return `[${typeof value}]`;
    }
  }

  #cut(text: string): string {
    const kept = text.slice(0, Math.max(0, Math.min(maxTextChars, this.#left)));
    this.#left -= kept.length;
    return kept.length === text.length ? kept : `${kept}…`;
  }

  #object(object: object, depth: number): unknown {
    if (this.#above.includes(object)) return '[circular]';
    if (depth >= maxDepth) return Array.isArray(object) ? '[array]' : '[object]';
    if (Object.getPrototypeOf(object) === Object.prototype) return this.#within(object, depth);
    if (object instanceof Date) return Number.isNaN(object.getTime()) ? null : object.toISOString();
    if (ArrayBuffer.isView(object)) return `[${object.byteLength} bytes]`;
    if (object instanceof Map || object instanceof Set) return `[${object.size} entries]`;
    return this.#within(object, depth);
  }

  #within(object: object, depth: number): unknown {
    this.#above.push(object);
    try {
      return Array.isArray(object) ? this.#list(object, depth) : this.#fields(object, depth);
    } finally {
      this.#above.pop();
    }
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const result: unknown[] = [];
    for (const item of list) {
      if (result.length >= maxEntries || this.#left <= 0) {
        result.push(`… ${list.length - result.length} more`);
        break;
      }
      result.push(this.value(item, depth + 1));
    }
    return result;
  }

  #fields(object: object, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const names = fieldNames(object);
    let kept = 0;
    for (const name of names) {
      if (kept >= maxEntries || this.#left <= 0) {
        result['…'] = `${names.length - kept} more`;
        break;
      }
      result[this.#cut(name)] = this.#field(object, name, depth);
      kept++;
    }
    return result;
  }

  #field(object: object, name: string, depth: number): unknown {
    let value: unknown;
    try {
      value = (object as Record<string, unknown>)[name];
    } catch {
      return '[unreadable]';
    }
    return this.value(value, depth + 1);
  }
}

// The words of an error are not enumerable.
function fieldNames(object: object): string[] {
  const own = Object.keys(object);
  if (!(object instanceof Error)) return own;
  return [...new Set(['name', 'message', 'stack', ...(object.cause === undefined ? [] : ['cause']), ...own])];
}
