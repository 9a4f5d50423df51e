/**
 * Secrets known by the name they go under and by their shape. Every pattern runs in linear time: nothing unbounded may
 * overlap with what precedes it.
 */

export const redacted = '[redacted]';

const secretNames =
  /authori[sz]ation|api_?key|access_?key|private_?key|secret|password|passwd|passphrase|credential|cookie|bearer|token|^auth$|^jwt$|^pwd$|^pin$|^otp$/;
const countNames = /tokens$|token_?(count|limit|usage|budget)$/;
const promptNames = /^(system|user|initial|append_system)?_?prompt$/;

/** What goes under a name: a secret or a prompt, an environment (its names are kept, its values never), or anything else. */
export type NameMeaning = 'secret' | 'environment' | 'plain';

/** Whether what goes under this name must not be kept: a secret, or a prompt. */
export function isSecretName(name: string): boolean {
  return judge(name.slice(0, 200));
}

function judge(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[-. ]/g, '_');
  return (secretNames.test(plain) && !countNames.test(plain)) || promptNames.test(plain);
}

const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\bBearer\s{1,8}(?!auth|token|realm)[\w.~+/=-]{8,}/gi,
  /\b[Bb]asic\s{1,8}(?=[a-z]{0,200}[A-Z0-9+/=])[\w+/]{8,}={0,2}/g,
  /\beyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g,
  /(?<![A-Za-z0-9])sk-[\w-]{16,}/g,
  /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_\w{8,}/g,
  /(?<![A-Za-z0-9])gh[oprsu]_\w{16,}/g,
  /(?<![A-Za-z0-9])github_pat_\w{16,}/g,
  /(?<![A-Za-z0-9])(?:glpat|gldt|glrt)-[\w-]{16,}/g,
  /(?<![A-Za-z0-9])xox[a-z]-[\w-]{8,}/g,
  /(?<![A-Za-z0-9])xapp-[\w-]{8,}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])/g,
  /(?<![A-Za-z0-9])AIza[\w-]{30,}/g,
  /(?<![A-Za-z0-9])(?:npm|hf|pypi|dop_v1|shpat|lin_api)[_-][A-Za-z0-9]{20,}/g,
  /(?<![A-Za-z0-9])\d{8,10}:[\w-]{35}(?![\w-])/g,
];

const urlPassword = /(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/g;

/** `--password …` on a command line; `--max-tokens 400` is a count. */
const flag =
  /(--[\w-]{0,40}?(?:api-?key|access-?key|secret|password|passwd|passphrase|credential|token)s?\s{1,4})(?!-|\[redacted\]|(?<=tokens\s{1,4})\d{1,12}(?!\S))\S{1,4096}/gi;

/** `api_key=…`, `"password": "…"`, `Cookie: …` inside a text. */
const assignment =
  /((?:authorization|api[_-]?key|access[_-]?key|secret|password|passwd|passphrase|credential|cookie|token)[\w-]{0,20}["']?\s{0,4}[=:]\s{0,4})(?!\[redacted\])("[^"]{0,4096}"?|'[^']{0,4096}'?|[^\s"',;&)}\]]{1,4096})/gi;

/** Shorter than any secret that can be told by its shape; spares most texts of an event the search. */
const shortestSecret = 8;

/** Something of these is in every text that a pattern above fits: a look spares most texts the searches. Apart they are the faster. */
const nameTrace =
  /bearer|basic|authori[sz]ation|(?:api|access)[_-]?key|secret|passw(?:or)?d|passphrase|credential|cookie|token/i;
/** What most shapes begin with, loosely: it is found in few texts, and fast. */
const shapeHint = /[bfikmoprstu1][_-]|eyJ|xox|A(?:[KS]I|Iz)|-----B/;
const shapeTrace =
  /eyJ|[srp]k[_-]|gh[oprsu]_|github_pat_|gl(?:pat|dt|rt)-|xox|xapp-|A[KS]IA|AIza|(?:npm|hf|pypi|dop_v1|shpat|lin_api)[_-]|-----BEGIN/;
const colonTrace = /:(?:\/\/[^\s/:@]{0,256}:|[\w-]{35})/;
/** Shorter texts can only hold what is assigned, or given after a flag. */
const shortestShape = 13;

function mayHoldSecret(text: string): boolean {
  const hasColon = text.includes(':');
  if (text.length < shortestShape && !hasColon && !text.includes('=') && !text.includes('--')) return false;
  return nameTrace.test(text) || (shapeHint.test(text) && shapeTrace.test(text)) || (hasColon && colonTrace.test(text));
}

/** The text without what looks like a secret. */
export function redactText(text: string): string {
  if (text.length < shortestSecret || !mayHoldSecret(text)) return text;
  let result = text;
  for (const shape of shapes) result = result.replace(shape, redacted);
  result = result.replace(urlPassword, `$1${redacted}`).replace(flag, `$1${redacted}`);
  return result.replace(assignment, (match, name: string, value: string) =>
    /^tokens|^token[_-]?(count|limit)/i.test(name.replace(/["'\s=:]+$/, '')) && /^\d+$/.test(value)
      ? match
      : `${name}${value.startsWith('"') ? `"${redacted}"` : redacted}`,
  );
}

/** Values of secrets in an environment, to be looked for as they are. Too short ones would match by accident. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    // `PWD` is where the shell is; it stands in every stack.
    if (value !== undefined && value.length >= 8 && name !== 'PWD' && isSecretName(name)) found.push(value);
  }
  // The longer first: one may be a part of another.
  return found.sort((one, other) => other.length - one.length);
}

/** The name of a field, as it may be kept. */
export interface FieldName {
  readonly clean: string;
  /** What goes under it. */
  readonly meaning: NameMeaning;
}

/** Takes secrets out of texts and names; knows values of the environment too. */
export interface TextRedactor {
  text(text: string): string;
  name(name: string): FieldName;
}

/** Names come back with every event; so many, and none that is longer, are not looked at anew. */
const maxNames = 1_000;
const maxNameChars = 64;
/** Texts from this length on are remembered for a while, so many of them. */
const longChars = 100;
const rememberedTexts = 4;

/** @param values - secrets to be found wherever they stand, the longer first. */
export function createTextRedactor(values: readonly string[]): TextRedactor {
  const known = new Map<string, FieldName>();
  /** Long texts that were found clean last: failures come in floods, each with the message and the stack of the one before. */
  const lastClean: string[] = [];
  let next = 0;

  function text(given: string): string {
    const isLong = given.length >= longChars;
    if (isLong && lastClean.includes(given)) return given;
    let clean = given;
    for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, redacted);
    clean = redactText(clean);
    if (isLong && clean === given) lastClean[next++ % rememberedTexts] = given;
    return clean;
  }

  return {
    text,
    name(name) {
      const found = known.get(name);
      if (found !== undefined) return found;
      const meaning = /^env(ironment)?$/i.test(name) ? 'environment' : isSecretName(name) ? 'secret' : 'plain';
      const field: FieldName = { clean: text(name), meaning };
      if (known.size < maxNames && name.length <= maxNameChars) known.set(name, field);
      return field;
    },
  };
}
