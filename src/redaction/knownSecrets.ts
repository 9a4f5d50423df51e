import { isPlainWord } from '../policy/text/plainWord.ts';
import { redacted, isSecretVariable } from './secretNames.ts';
import { withoutTokens } from './secretShapes.ts';

/** Variables as a process has them, or as they are set for a child. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Shorter ones would be found by accident. */
const shortest = 8;
/** The password of an address is one for sure. */
const shortestPassword = 6;
/** Longest that is looked for as a whole, in characters, and most that are kept; the oldest go first. */
const longest = 20_000;
const most = 1_000;
/** A line of a key in several is a secret by itself: programs write line by line. */
const shortestLine = 16;

/**
 * Secrets that are known by their value: those of our own environment, and those that children are given. They are found wherever they
 * stand, also URL-encoded, escaped as in JSON, or within base64. More can be learnt at any time.
 */
export class KnownSecrets {
  readonly #values = new Set<string>();
  /** Variables as they were last taken in. */
  readonly #seen = new Map<string, string>();
  #forms: readonly Form[] | undefined;
  #version = 0;

  /** @param variables - of which the secrets are known from the start. */
  constructor(variables: Variables = {}) {
    this.learn(variables);
  }

  /** Grows with what is learnt: what was found to be clean before may not be any more. */
  get version(): number {
    return this.#version;
  }

  /** Takes in the secrets among variables or headers: told by their name, by their shape, or as the password of an address. */
  learn(variables: Variables | undefined): void {
    for (const [name, value] of Object.entries(variables ?? {})) {
      if (typeof value !== 'string' || value.length < shortest || value.length > longest) continue;
      if (this.#seen.get(name) === value) continue;
      this.#seen.set(name, value);
      for (const secret of secretsIn(name, value)) this.#add(secret);
    }
  }

  /** Takes in what is secret whatever it is called and looks like; values of less than 8 characters would be found by accident. */
  learnValues(values: Iterable<string>): void {
    for (const value of values) if (value.length >= shortest && value.length <= longest) this.#add(value);
  }

  /** The text without them. */
  hide(text: string): string {
    this.#forms ??= formsOf(this.#values);
    let result = text;
    // Each form is looked for only where it can be.
    const isEscaped = text.includes('%') || text.includes('\\') || text.includes('+');
    for (const { value, escaped, encoded } of this.#forms) {
      if (result.includes(value)) result = result.replaceAll(value, redacted);
      for (const each of encoded) if (result.includes(each)) result = withoutEncoded(result, each);
      if (isEscaped && escaped !== undefined) result = result.replace(escaped, redacted);
    }
    return result;
  }

  #add(secret: string): void {
    if (this.#values.has(secret) || isPlainWord(secret)) return;
    this.#values.add(secret);
    const [oldest] = this.#values;
    if (this.#values.size > most && oldest !== undefined) this.#values.delete(oldest);
    this.#forms = undefined;
    this.#version++;
  }
}

function secretsIn(name: string, value: string): readonly string[] {
  const found = partsOf(value);
  if (isSecretVariable(name, value)) {
    const credentials = /^[A-Za-z][\w-]{0,30} +(\S{8,})$/.exec(value)?.[1];
    found.push(value, ...(credentials === undefined ? [] : [credentials]), ...linesOf(value));
  } else if (!/\s/.test(value) && !value.includes('://') && isMade(value)) {
    found.push(value);
  }
  return found;
}

/** Finds what is secret of an address or of a connection string, which as a whole may stand in pieces. */
function partsOf(value: string): string[] {
  const found: string[] = [];
  const user = /:\/\/([^\s/]{1,2000})@/.exec(value)?.[1];
  if (user?.includes(':') === true) {
    const password = user.slice(user.indexOf(':') + 1);
    found.push(password, decoded(password));
  } else if (user !== undefined && isToken(user, value)) found.push(user);
  for (const [, part = ''] of value.matchAll(/(?:key|password|pwd|secret|token|sig)=([^;&\s]{1,2000})/gi)) {
    found.push(part, decoded(part));
  }
  return found.filter((each) => each.length >= shortestPassword);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function linesOf(value: string): readonly string[] {
  if (!value.includes('\n')) return [];
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
}

/** Takes what stands alone before the host of an address for the name of a user, unless it is as long as a token where nobody has an account. */
const isToken = (user: string, address: string): boolean =>
  isMade(user) || (user.length >= shortestLine && /\d/.test(user) && /^(?:[a-z]+\+)?https?:/i.test(address));

/** Tells whether a service has made it. */
const isMade = (value: string): boolean => isRandom(value) || withoutTokens(value) !== value;

/** Nobody writes such a text by hand: it holds digits and letters of both cases, or is a long number in hexadecimal. */
function isRandom(value: string): boolean {
  if (/^(?=[a-f]*\d)[0-9a-f]{32,512}$/i.test(value)) return true;
  return /^[\w+=-]{20,512}$/.test(value) && /\d.*\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/** A secret, as it is looked for. */
interface Form {
  readonly value: string;
  /** Fits it where some of its characters are escaped, as in addresses and JSON; undefined where none would be. */
  readonly escaped: RegExp | undefined;
  /** Parts that base64 of a longer text holds, whatever stands before it. */
  readonly encoded: readonly string[];
}

/** The longer first: one may be a part of another. */
function formsOf(values: ReadonlySet<string>): readonly Form[] {
  return [...values]
    .sort((one, other) => other.length - one.length)
    .map((value) => ({ value, escaped: escapedForm(value), encoded: base64Forms(value) }));
}

const longestEscaped = 2_000;

/** Every character as it is, as `%XX`, or behind backslashes. No two of these begin alike, so that it fits or fails in one pass. */
function escapedForm(value: string): RegExp | undefined {
  if (value.length > longestEscaped || /^[\w.-]*$/.test(value)) return undefined;
  // A row of backslashes is one part: two that may each be long would be tried in every way.
  const parts = value.match(/\\+|[^\\]/gu) ?? [];
  return new RegExp(parts.map(escapedPart).join(''), 'gu');
}

function escapedPart(part: string): string {
  const bytes = [...Buffer.from(part)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const plain = part.startsWith('\\')
    ? `\\\\{${part.length},${16 * part.length}}`
    : (controlEscapes[part] ?? part.replace(/[\^$.*+?()[\]{}|]/, '\\$&'));
  return `(?:${plain}|${caseless(bytes)}${part === ' ' ? '|\\+' : ''})`;
}

const controlEscapes: Readonly<Record<string, string>> = {
  '\n': '\\n|\\\\{1,15}n',
  '\r': '\\r|\\\\{1,15}r',
  '\t': '\\t|\\\\{1,15}t',
  '"': '\\\\{0,15}"',
  '/': '\\\\{0,15}\\/',
};

const caseless = (hex: string): string => hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** Base64 takes three bytes at a time: the text may begin at each of them, and its ends depend on what is around it. */
function base64Forms(value: string): readonly string[] {
  const forms = [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const from = offset === 0 ? 0 : 4;
    const to = Math.floor(bytes.length / 3) * 4;
    return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(from, to));
  });
  return [...new Set(forms)].filter((form) => form.length >= shortest);
}

/** With all that is encoded around it: the ends of the secret are there. */
function withoutEncoded(text: string, form: string): string {
  let result = '';
  let done = 0;
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, done)) {
    let from = at;
    let to = at + form.length;
    while (from > done && isBase64(text, from - 1)) from--;
    while (to < text.length && isBase64(text, to)) to++;
    result += `${text.slice(done, from)}${redacted}`;
    done = to;
  }
  return `${result}${text.slice(done)}`;
}

const isBase64 = (text: string, at: number): boolean => /[\w+/=-]/.test(text.charAt(at));
