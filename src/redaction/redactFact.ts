import { boundedJson, maxEntries } from '../policy/text/storedJson.ts';
import type { Logger, LogLevel } from '../policy/text/logger.ts';
import { redacted, announcesSecret } from './secretNames.ts';
import { keptApart } from './shownNames.ts';
import { createTextRedactor, type FieldName, type Hiding, shortestSecret, type TextRedactor } from './secrets.ts';

/** Longest text that goes out in one piece, in characters; of a longer one the beginning. */
const maxChars = 20_000;
/** Characters read of it beyond that, so that a secret across the cut is still seen whole. */
const readAheadChars = 6_000;
const maxDepth = 40;
/** Objects and lists of one fact that are looked into. */
const maxObjects = 1_000;
const infinite = Number.POSITIVE_INFINITY;
const leftOut = '[left out]';
const unreadable = '[unreadable]';

/** Gives a fact without secrets: the same object where it holds none. Never throws. */
export type FactRedactor = <F extends object>(fact: F) => F;

/** Most of one fact that a redactor looks into; it leaves out the rest. */
interface RedactorLimits {
  /** Objects and lists. @defaultValue 1,000 */
  readonly objects?: number;
  /** Items of a list; the others are holes in it. @defaultValue all */
  readonly items?: number;
  /** Characters of all texts together. @defaultValue all */
  readonly chars?: number;
}

/**
 * A redactor for what is told: facts, answers, reports. A fact keeps its form: numbers stay numbers and errors stay errors; times in ms are whole. The
 * redactor leaves out what is too deep or too much. An object that is not plain becomes a plain one.
 * @param secrets - found wherever they stand, also those it learns later. @defaultValue none
 */
export function createFactRedactor(secrets?: Hiding, limits: RedactorLimits = {}): FactRedactor {
  return new Walk(createTextRedactor(secrets), limits).redact;
}

/** The walk over the values of a fact, which every fact takes on its way out. */
class Walk {
  readonly #texts: TextRedactor;
  readonly #most: Required<RedactorLimits>;
  /** Objects and characters that it may still look into. */
  #left = 0;
  #charsLeft = 0;
  /** Objects within which the walk is: a circle ends where it closes. */
  #above: object[] = [];

  constructor(texts: TextRedactor, { objects = maxObjects, items = infinite, chars = infinite }: RedactorLimits) {
    this.#texts = texts;
    this.#most = { objects, items, chars };
  }

  readonly redact = <F extends object>(fact: F): F => {
    // A getter may tell a fact of its own.
    const left = this.#left;
    const charsLeft = this.#charsLeft;
    const above = this.#above;
    this.#left = this.#most.objects;
    this.#charsLeft = this.#most.chars;
    this.#above = [];
    this.#texts.refresh();
    try {
      return this.#value(fact, 0) as F;
    } finally {
      this.#left = left;
      this.#charsLeft = charsLeft;
      this.#above = above;
    }
  };

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return value.length < shortestSecret ? value : this.#text(value);
    if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
    if (typeof value !== 'object' || value === null) return value;
    if (this.#above.includes(value)) return '[circular]';
    if (depth >= maxDepth || this.#left-- <= 0) return leftOut;
    this.#above.push(value);
    try {
      return this.#object(value, depth);
    } catch {
      // A proxy or a prototype that throws when it is looked at.
      return leftOut;
    } finally {
      this.#above.pop();
    }
  }

  #text(text: string): string {
    const read = text.length > maxChars ? text.slice(0, maxChars + readAheadChars) : text;
    this.#charsLeft -= read.length;
    if (this.#charsLeft < 0) return leftOut;
    let clean = this.#texts.clean(read);
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
    const looked = list.length > this.#most.items ? list.slice(0, this.#most.items) : list;
    const clean = looked.map((item, index) =>
      typeof item === 'string' && announcesSecret(list[index - 1]) ? redacted : this.#value(item, depth + 1),
    );
    if (looked !== list) {
      clean.length = list.length;
      return clean;
    }
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
    const { known } = this.#texts;
    const values: unknown[] = [];
    let changed = false;
    for (const name of names) {
      let given: unknown;
      let value: unknown;
      try {
        given = (object as Record<string, unknown>)[name];
        value = given;
      } catch {
        value = unreadable;
      }
      const field = known.get(name) ?? this.#texts.name(name);
      if (typeof value === 'number' && field.meaning === 'plain') {
        // Clocks count fractions of a millisecond; what is told does not.
        if (field.isMs) value = Math.round(value);
      } else if (typeof value !== 'string' || value.length >= shortestSecret || field.meaning === 'secret') {
        value = this.#field(field, value, depth);
      }
      changed ||= field.clean !== name || !Object.is(value, given);
      values.push(value);
    }
    if (!changed) return undefined;
    return Object.fromEntries(names.map((name, index) => [this.#texts.name(name).clean, values[index]]));
  }

  #field({ meaning, isName }: FieldName, value: unknown, depth: number): unknown {
    // That a secret is missing, or switched off, is worth knowing.
    if (value === null || value === undefined || typeof value === 'boolean') return value;
    if (meaning === 'secret') return redacted;
    if (typeof value === 'string') return isName ? keptApart(value, this.#text(value)) : this.#text(value);
    if (meaning === 'plain' || typeof value !== 'object' || Array.isArray(value)) return this.#value(value, depth + 1);
    return Object.fromEntries(Object.keys(value).map((key) => [this.#texts.name(key).clean, redacted]));
  }
}

/** A logger that hands on lines and fields without secrets. */
export function createRedactedLogger(logger: Logger, redact: FactRedactor): Logger {
  const level = (name: LogLevel) => (message: string, fields?: object) => {
    const line = redact({ message }).message;
    if (fields === undefined) logger[name](line);
    else logger[name](line, redact(fields));
  };
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
}

/** Turns data into bounded JSON without secrets. Never throws. */
type MaskedJson = (data: Readonly<Record<string, unknown>>) => string;

/** Texts that are looked into, in characters: more than the JSON takes, and few milliseconds. What a machine has, or a wire carries, may be much more. */
const maxJsonChars = 200_000;

/** For data that goes out as JSON and is told nowhere else. @param secrets - found wherever they stand. @defaultValue none */
export function createMaskedJson(secrets?: Hiding): MaskedJson {
  const redact = createFactRedactor(secrets, { items: maxEntries, chars: maxJsonChars });
  return (data) => boundedJson(redact(data));
}
