import { parsedJson } from '../../policy/text/parsedJson.ts';

/** A part of a text, from `start` up to before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds where the value of a member stands in the object that begins at `from`; undefined when there is none, or no object. Among several members of that
 * name it is the last, as JSON.parse has it. The text must be JSON: it is walked, not checked.
 */
export function memberSpan(text: string, name: string, from = 0): Span | undefined {
  let found: Span | undefined;
  eachMember(text, from, (at, keyEnd, start, end) => {
    if (isKey(text, at, keyEnd, name)) found = { start, end };
  });
  return found;
}

/**
 * The name of a member that the object which begins at `from` has twice; undefined when there is none. Names that differ in upper and lower case alone are
 * one: readers of JSON in Go take them for one. The text must be JSON.
 */
export function doubledMember(text: string, from = 0): string | undefined {
  const names = new Set<string>();
  let doubled: string | undefined;
  eachMember(text, from, (at, keyEnd) => {
    const written = text.slice(at, keyEnd);
    const name = written.includes('\\') ? String(parsedJson(written)) : written.slice(1, -1);
    const folded = name.toUpperCase().toLowerCase();
    if (names.has(folded)) doubled ??= name;
    names.add(folded);
  });
  return doubled;
}

/** The numbers of members of the object that the text is, and of the object that is its last member of that name. The text must be JSON. */
export function memberCounts(text: string, inner: string): readonly [own: number, inner: number] {
  let [count, within] = [0, 0];
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return [0, 0];
  for (at = skipSpace(text, at + 1); at < text.length && text[at] !== '}'; count++) {
    const keyEnd = skipString(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const isInner = isKey(text, at, keyEnd, inner) && text[start] === '{';
    if (isInner)
      for (within = 0, at = skipSpace(text, start + 1); at < text.length && text[at] !== '}'; within++)
        at = skipMember(text, at);
    at = skipSpace(text, isInner ? at + 1 : skipValue(text, start));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return [count, within];
}

/** The place of the next member, or of the end. */
function skipMember(text: string, from: number): number {
  const start = skipSpace(text, skipSpace(text, skipString(text, from)) + 1);
  const at = skipSpace(text, skipValue(text, start));
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

function eachMember(
  text: string,
  from: number,
  take: (keyStart: number, keyEnd: number, start: number, end: number) => void,
): void {
  let at = skipSpace(text, from);
  if (text[at] !== '{') return;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== '}') {
    const keyEnd = skipString(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    take(at, keyEnd, start, end);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
}

/** Finds where the elements of the array stand that the text is. The text must be JSON. */
export function elementSpans(text: string): Span[] {
  const spans: Span[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '[') return spans;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== ']') {
    const end = skipValue(text, at);
    spans.push({ start: at, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return spans;
}

function isKey(text: string, start: number, end: number, name: string): boolean {
  if (end - start === name.length + 2) return text.startsWith(name, start + 1);
  const written = text.slice(start, end);
  return written.includes('\\') && parsedJson(written) === name;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** The place behind the value that begins at `from`. */
export function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  if (first === '{' || first === '[') return skipNested(text, from);
  let at = from;
  while (at < text.length && !',]}'.includes(text.charAt(at)) && text.charCodeAt(at) > 0x20) at++;
  // Whatever the text is, the walk must go on.
  return Math.max(at, from + 1);
}

function skipNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = skipString(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The place behind the string that begins at `from`: a jump from quote to quote, so that long texts cost next to nothing. */
export function skipString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote >= 0) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** The message with another id. */
export function withId(text: string, id: number | string): string {
  return replaced(text, memberSpan(text, 'id'), id);
}

/** The text with another value in place of what stands there; as it is where nothing does. */
export function replaced(text: string, span: Span | undefined, value: number | string): string {
  return span === undefined ? text : text.slice(0, span.start) + JSON.stringify(value) + text.slice(span.end);
}
