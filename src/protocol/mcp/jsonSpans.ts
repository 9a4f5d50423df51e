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
  let at = skipSpace(text, from);
  if (text[at] !== '{') return undefined;
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== '}') {
    const keyEnd = skipString(text, at);
    const key = text.slice(at, keyEnd);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    if (isKey(key, name)) found = { start, end };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
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

function isKey(written: string, name: string): boolean {
  if (written.length === name.length + 2) return written.slice(1, -1) === name;
  return written.includes('\\') && JSON.parse(written) === name;
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
  let at = from;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = skipString(text, at);
      continue;
    }
    at++;
    if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return at;
  }
  return at;
}

/** The place behind the string that begins at `from`: a jump from quote to quote, so that long texts cost next to nothing. */
export function skipString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote >= 0) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
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
