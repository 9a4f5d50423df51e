import { plainText } from '../policy/text/sanitize.ts';

/** Picks what may be shown of the data of an actor: plain, bounded, without secrets or what people and programs say. Never throws. */
export type Disclose = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** Names under which prompts, answers, output and command lines go. Ours, and those of the machine's owner. */
const spoken =
  /^(args|argv|arguments|stdin|stdout|stderr|chunk|captured|payload|prompts?|text|content|body|data|params|question|answer|action|messages|history|tool_?input|tool_?result)$/i;

/** Names under which text in words is about the runtime, not said through it. */
const explained = /^(message|stack|cause|error|name|id|session)$/i;

/** Mark that the redactor leaves of a function; a field that holds one tells nothing. */
const functionMark = '[function]';

/** Longest text shown, in characters. */
const maxTextChars = 1000;

/**
 * Creates the filter of data for an inspector: it shows what `redact` leaves, without what was said and without characters that are not seen. Text that is no
 * single word is shown by its length only, unless it goes under a name that explains.
 *
 * @param redact - gives bounded JSON without secrets, and never throws.
 */
export function createDisclose(redact: (data: Readonly<Record<string, unknown>>) => string): Disclose {
  return (data) => withoutSpeech(JSON.parse(redact(data)) as Readonly<Record<string, unknown>>);
}

function withoutSpeech(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === functionMark ? [] : [[plainText(name), shown(name, value)]],
    ),
  );
}

function shown(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (spoken.test(name)) return withheld(value);
  if (typeof value === 'string') return shownText(name, value);
  if (Array.isArray(value)) return value.map((item) => shown(name, item));
  return withoutSpeech(value as Readonly<Record<string, unknown>>);
}

function shownText(name: string, given: string): string {
  const text = plainText(given);
  if (explained.test(name)) return text.length > maxTextChars ? `${text.slice(0, maxTextChars)}…` : text;
  const isWord = text.length <= 200 && (!/\s/.test(text) || /^(\[[a-z0-9 ]+\]|… \d+ more)$/.test(text));
  return isWord ? text : withheld(text);
}

function withheld(value: unknown): string {
  if (typeof value === 'string') return `[${value.length} characters]`;
  return Array.isArray(value) ? `[${value.length} items]` : '[withheld]';
}
