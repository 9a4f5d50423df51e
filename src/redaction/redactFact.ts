import { wholeMs } from '../policy/duration.ts';
import { redacted } from './redacted.ts';
import { announcesSecret, type NameMeaning } from './secretNames.ts';
import { holdsName, keptApart } from './shownNames.ts';
import { createTextRedactor, type Hiding, type TextRedactor } from './secrets.ts';

/** Longest text that goes out in one piece, in characters; of a longer one the beginning. */
const maxChars = 20_000;
/** Characters read of it beyond that, so that a secret across the cut is still seen whole. */
const readAheadChars = 6_000;
const maxDepth = 40;
/** Objects and lists of one fact that are looked into. */
const maxObjects = 1_000;
const leftOut = '[left out]';
const unreadable = '[unreadable]';

/** Gives a fact without secrets: the same object where it holds none. Never throws. */
export type FactRedactor = <F extends object>(fact: F) => F;

/**
 * A redactor for facts on their way to subscribers, by the same names and shapes as for the store. A fact keeps its form: numbers stay
 * numbers and errors stay errors; times in ms are whole. The redactor leaves out what is too deep or too much. An object that is not
 * plain becomes a plain one.
 * @param secrets - found wherever they stand, also those it learns later. @defaultValue none
 * @param most - how many objects and lists it looks into; it leaves out the rest.
 */
export function createFactRedactor(secrets?: Hiding, most = maxObjects): FactRedactor {
  const texts = createTextRedactor(secrets);
  return <F extends object>(fact: F): F => new Pass(texts, most).clean(fact, 0) as F;
}

/** A pass over one fact. */
class Pass {
  readonly #texts: TextRedactor;
  #left: number;

  constructor(texts: TextRedactor, most: number) {
    this.#texts = texts;
    this.#left = most;
  }

  clean(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'function') return '[function]';
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth || this.#left-- <= 0) return leftOut;
    try {
      return this.#object(value, depth);
    } catch {
      // A proxy or a prototype that throws when it is looked at.
      return leftOut;
    }
  }

  #text(text: string): string {
    const read = text.length > maxChars ? text.slice(0, maxChars + readAheadChars) : text;
    let clean = this.#texts.text(read);
    if (read.length === text.length) return clean;
    // So much was redacted that the end of what was read comes into view, where half a secret may stand.
    if (clean.length <= maxChars) clean = clean.slice(0, clean.search(/\S{1,8000}$/));
    return `${clean.slice(0, maxChars)}…`;
  }

  #object(object: object, depth: number): unknown {
    const prototype: unknown = Object.getPrototypeOf(object);
    if (prototype === Object.prototype || prototype === null) {
      return this.#fields(object, Object.keys(object), depth) ?? object;
    }
    if (Array.isArray(object)) return this.#list(object, depth);
    if (object instanceof Error) return this.#error(object, depth);
    if (object instanceof Date) return object;
    if (ArrayBuffer.isView(object)) return `[${object.byteLength} bytes]`;
    if (object instanceof Map || object instanceof Set) return `[${object.size} entries]`;
    return this.#fields(object, Object.keys(object), depth) ?? { ...object };
  }

  #list(list: readonly unknown[], depth: number): readonly unknown[] {
    const clean = list.map((item, index) =>
      typeof item === 'string' && announcesSecret(list[index - 1]) ? redacted : this.clean(item, depth + 1),
    );
    return clean.some((item, index) => item !== list[index]) ? clean : list;
  }

  /** Reads what an error says, which is not enumerable, nor are the errors of an AggregateError. */
  #error(error: Error, depth: number): Error {
    const own = Object.keys(error);
    const inherited = ['message', 'stack', 'cause'].filter((name) => name in error);
    const names = [...new Set([...inherited, ...Object.getOwnPropertyNames(error)])];
    const fields = this.#fields(error, names, depth);
    if (fields === undefined) return error;
    const copy = new Error(String(fields['message']));
    for (const [name, value] of Object.entries({ name: error.name, ...fields })) {
      Object.defineProperty(copy, name, { value, enumerable: own.includes(name), configurable: true, writable: true });
    }
    return copy;
  }

  /** The fields without secrets; undefined when they hold none. */
  #fields(object: object, names: readonly string[], depth: number): Record<string, unknown> | undefined {
    let changed = false;
    const values: unknown[] = [];
    for (const name of names) {
      const given = read(object, name);
      // Clocks count fractions of a millisecond; what is told does not.
      const value = wholeMs(name, given);
      const { clean, meaning } = this.#texts.name(name);
      const cleanValue = this.#field(name, meaning, value, depth);
      changed ||= clean !== name || cleanValue !== given || value === unreadable;
      values.push(cleanValue);
    }
    if (!changed) return undefined;
    return Object.fromEntries(names.map((name, index) => [this.#texts.name(name).clean, values[index]]));
  }

  #field(name: string, meaning: NameMeaning, value: unknown, depth: number): unknown {
    // That a secret is missing, or switched off, is worth knowing.
    if (value === null || value === undefined || typeof value === 'boolean') return value;
    if (meaning === 'secret') return redacted;
    if (typeof value === 'string' && holdsName(name)) return keptApart(value, this.#text(value));
    if (meaning === 'plain' || typeof value !== 'object' || Array.isArray(value)) return this.clean(value, depth + 1);
    return Object.fromEntries(Object.keys(value).map((key) => [this.#texts.name(key).clean, redacted]));
  }
}

function read(object: object, name: string): unknown {
  try {
    return (object as Record<string, unknown>)[name];
  } catch {
    return unreadable;
  }
}
