import { redacted } from './secretNames.ts';
import { KnownSecrets, type Variables } from './knownSecrets.ts';
import { createFactRedactor, type FactRedactor } from './redactFact.ts';

/**
 * Takes out of texts and errors what a request was sent with: authorizations, keys and cookies of its headers, keys in the query of its
 * address, the texts of its body; and what looks like a secret, whoever said it. A server may repeat what it was sent, and a client tells the whole address.
 */
export function redactorOf(
  address: string | undefined,
  headers: Iterable<readonly [string, string]> = [],
  body?: unknown,
): FactRedactor {
  const secrets = new KnownSecrets();
  for (const variables of variablesOf(address, headers)) secrets.learn(variables);
  secrets.learnValues(ownHeaderValues(headers));
  const echoes = new RequestEchoes(body);
  return createFactRedactor({ version: secrets.version, hide: (text) => echoes.hide(secrets.hide(text)) });
}

/** Headers that say how a request is meant, and of which version: what they hold is in every text about it. */
const usual =
  /^(?:accept(?:-.*)?|content-.*|user-agent|host|origin|referer|date|range|if-.*|cache-control|pragma|prefer|expect|connection|traceparent|tracestate|baggage|x-request-id|x-correlation-id|idempotency-key|.*-version|.*-beta)$/i;

/** The values of headers of any other name: whoever gives a credential may call it what they like. */
export function ownHeaderValues(headers: Iterable<readonly [string, string]>): readonly string[] {
  return [...headers].flatMap(([name, value]) => {
    if (usual.test(name)) return [];
    // `Scheme credentials`: a server may repeat the second alone.
    const credentials = /^[A-Za-z][\w-]{0,30} +(\S+)$/.exec(value)?.[1];
    return credentials === undefined ? [value] : [value, credentials];
  });
}

/** Yields what of a request may be secret, as names and values: `KnownSecrets` tells which is. */
export function* variablesOf(
  address: string | undefined,
  headers: Iterable<readonly [string, string]>,
): Generator<Variables> {
  for (const [name, value] of headers) {
    yield { [name]: value };
    // Each is a secret by itself.
    if (/^cookie$/i.test(name)) {
      for (const cookie of value.split(';')) yield { [name]: cookie.slice(cookie.indexOf('=') + 1).trim() };
    }
  }
  if (address === undefined || !URL.canParse(address)) return;
  for (const [name, value] of new URL(address).searchParams) yield { [name]: value };
}

/** Shorter values would be found by accident. */
const shortest = 12;
/** A part of a value is known by so many characters: fewer may be the server's own words. */
const shortestPart = 32;
/** A longer body is not parsed: its beginning and its end are taken for text. */
const longestParsed = 2_000_000;
/** Most that is looked for: characters, and places at which something that is repeated may begin. */
const mostChars = 1_000_000;
const mostPlaces = 50_000;
const mostOfOneKind = 8;
/** Fields of what a request is about, and not what it says. */
const told: ReadonlySet<string> = new Set(['model', 'type', 'role']);

/** Escapes of JSON and of programs' texts, at any depth; and spaces, which servers fold. */
const escapes = /\\+u([\da-f]{4})|\\+x([\da-f]{2})|(?:\s|\\+[nrtbf])+|\\+/gi;

/** A place in a value, where a part of it may begin. */
interface Place {
  readonly value: string;
  readonly at: number;
}

/**
 * Words of a request in its body, so that they can be taken out of what a server says of it: whole texts of its JSON, and parts of 32 characters and more
 * that begin with a word. Nothing is made of the body before a text is looked into.
 */
export class RequestEchoes {
  readonly #body: unknown;
  #places: ReadonlyMap<string, readonly Place[]> | undefined;

  constructor(body: unknown) {
    this.#body = body;
  }

  /** The text without them. */
  hide(text: string): string {
    if (this.#body === undefined || text.length < shortest) return text;
    this.#places ??= placesOf(this.#body);
    if (this.#places.size === 0) return text;
    const plain = withoutEscapes(text);
    let result = '';
    let done = 0;
    for (let at = 0; at + shortest <= plain.text.length; at++) {
      const length = this.#lengthAt(plain.text, at);
      if (length === 0) continue;
      result += `${text.slice(done, plain.startOf(at))}${redacted}`;
      at += length - 1;
      done = plain.startOf(at + 1);
    }
    return `${result}${text.slice(done)}`;
  }

  /** Tells how much of the request stands there. */
  #lengthAt(text: string, at: number): number {
    let longest = 0;
    for (const { value, at: from } of this.#places?.get(text.slice(at, at + shortest)) ?? []) {
      let length = shortest;
      while (from + length < value.length && value[from + length] === text[at + length]) length++;
      const isWhole = from === 0 && length === value.length;
      // A part may have been cut: by the server, or by who read no further.
      const isCut = /^\s*(?:\.\.\.|…|$)/.test(text.slice(at + length, at + length + 5));
      if (isWhole || isCut || length >= shortestPart) longest = Math.max(longest, length);
    }
    return longest;
  }
}

function placesOf(body: unknown): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  let left = mostPlaces;
  const add = (value: string, at: number): void => {
    if (value.length - at < shortest || left <= 0) return;
    const key = value.slice(at, at + shortest);
    const known = places.get(key);
    if (known === undefined) places.set(key, [{ value, at }]);
    else if (known.length < mostOfOneKind) known.push({ value, at });
    left--;
  };
  const values = textsOf(body);
  for (const value of values) add(value, 0);
  for (const value of values) {
    for (let at = value.indexOf(' ') + 1; at > 0 && left > 0; at = value.indexOf(' ', at) + 1) add(value, at);
  }
  return places;
}

/** The texts in a body, without escapes; so many characters of them. */
function textsOf(body: unknown): readonly string[] {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body.subarray(0, longestParsed)) : body;
  const texts: string[] = [];
  let left = mostChars;
  const walk = (value: unknown): void => {
    if (left <= 0) return;
    if (typeof value === 'string') {
      if (value.length >= shortest) texts.push(withoutEscapes(value.slice(0, left)).text.trim());
      left -= value.length;
    } else if (typeof value === 'object' && value !== null) {
      // The last message is the newest: it is what a server is likely to speak of.
      for (const [name, each] of Object.entries(value).reverse()) if (!told.has(name)) walk(each);
    }
  };
  if (text instanceof URLSearchParams) walk(Object.fromEntries(text));
  else if (typeof text === 'string')
    walk(text.length > longestParsed ? [text.slice(0, mostChars / 2), text.slice(-mostChars / 2)] : parsed(text));
  return texts;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text with its escapes as what they stand for, and where each of its characters begins in the one given. */
function withoutEscapes(given: string): { readonly text: string; readonly startOf: (at: number) => number } {
  let text = '';
  let done = 0;
  // Places where something was replaced: its end in the new text, and in the one given.
  const ends: [number, number][] = [];
  for (const { 0: found, 1: unicode, 2: byte, index } of given.matchAll(escapes)) {
    const code = unicode ?? byte;
    const plain = code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : /^\\+$/.test(found) ? '' : ' ';
    text += given.slice(done, index) + plain;
    done = index + found.length;
    if (found.length !== plain.length) ends.push([text.length, done]);
  }
  text += given.slice(done);
  return {
    text,
    startOf(at) {
      let [from, to] = [0, ends.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if ((ends[middle]?.[0] ?? 0) <= at) from = middle + 1;
        else to = middle;
      }
      const [end = 0, start = 0] = ends[from - 1] ?? [];
      return start + at - end;
    },
  };
}
