import { wholeMs } from '../policy/duration.ts';
import type { KnownSecrets } from './knownSecrets.ts';
import { redacted } from './redacted.ts';
import { announcesSecret, type NameMeaning } from './secretNames.ts';
import { createTextRedactor, type TextRedactor } from './secrets.ts';

/** Longest text kept of one string, in characters. */
export const maxTextChars = 2_000;
/** Longest metadata kept of one event, in bytes of JSON. */
export const maxMetadataBytes = 16_384;

/** Characters read of a longer string before it is cut, so that a secret across the cut is still seen whole. */
const readAheadChars = 6_000;
const maxDepth = 8;
const maxEntries = 100;

/** Turns metadata into JSON that holds no secrets and is at most {@link maxMetadataBytes} long. Never throws. */
export type Redactor = (metadata: Readonly<Record<string, unknown>>) => string;

/**
 * A redactor that also knows `secrets`: values of the environment, found wherever they stand.
 * Keys are judged by name, texts by shape. Of what is too much, a part and a mark remain.
 */
export function createRedactor(secrets?: KnownSecrets): Redactor {
  const texts = createTextRedactor(secrets);
  return (metadata) => {
    // Escapes make JSON longer than the text it carries; the smallest budget fits even if every character is escaped.
    for (const budget of [maxMetadataBytes, maxMetadataBytes / 2, maxMetadataBytes / 8]) {
      try {
        const json = JSON.stringify(new Walk(texts, budget).value(metadata, 0));
        // A character takes three bytes at most: most need not be counted.
        if (json.length * 3 <= maxMetadataBytes || Buffer.byteLength(json) <= maxMetadataBytes) return json;
      } catch {
        // A getter or a proxy that throws in a way the walk does not expect: nothing of it can be trusted.
        break;
      }
    }
    return '{"truncated":true}';
  };
}

/** A walk over one value: what it may still keep, and where it is. */
class Walk {
  readonly #texts: TextRedactor;
  readonly #above: object[] = [];
  #left: number;

  constructor(texts: TextRedactor, budget: number) {
    this.#texts = texts;
    this.#left = budget;
  }

  value(value: unknown, depth: number): unknown {
    this.#left -= 8;
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'bigint':
        return this.#text(String(value));
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

  #text(text: string): string {
    const read = text.slice(0, maxTextChars + readAheadChars);
    let clean = this.#texts.text(read);
    const whole = read.length === text.length;
    // So much was redacted that the end of what was read comes into view, where half a secret may stand.
    if (!whole && clean.length <= maxTextChars) clean = clean.slice(0, clean.search(/\S{1,8000}$/));
    const kept = clean.slice(0, Math.max(0, Math.min(maxTextChars, this.#left)));
    this.#left -= kept.length;
    return whole && kept.length === clean.length ? kept : `${kept}…`;
  }

  #cut(name: string): string {
    const kept = name.slice(0, Math.max(0, Math.min(maxTextChars, this.#left)));
    this.#left -= kept.length;
    return kept.length === name.length ? kept : `${kept}…`;
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
      const isSecret = typeof item === 'string' && announcesSecret(list[result.length - 1]);
      result.push(isSecret ? redacted : this.value(item, depth + 1));
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
      const { clean, meaning } = this.#texts.name(name);
      result[this.#cut(clean)] = this.#field(object, name, meaning, depth);
      kept++;
    }
    return result;
  }

  #field(object: object, name: string, meaning: NameMeaning, depth: number): unknown {
    let value: unknown;
    try {
      value = wholeMs(name, (object as Record<string, unknown>)[name]);
    } catch {
      return '[unreadable]';
    }
    // That a secret is missing, or switched off, is worth knowing.
    if (meaning === 'secret' && value !== null && value !== undefined && typeof value !== 'boolean') return redacted;
    if (meaning === 'environment' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.fromEntries(
        Object.keys(value)
          .slice(0, maxEntries)
          .map((key) => [this.#cut(this.#texts.name(key).clean), redacted]),
      );
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
