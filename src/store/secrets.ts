/**
 * Secrets known by the name they go under and by their shape. Every pattern runs in linear time: nothing unbounded may
 * overlap with what precedes it.
 */

export const redacted = '[redacted]';

const secretNames =
  /authori[sz]ation|api_?key|access_?key|private_?key|secret|password|passwd|passphrase|credential|cookie|bearer|token|^auth$|^jwt$|^pwd$|^pin$|^otp$/;
const countNames = /tokens$|token_?(count|limit|usage|budget)$/;
const promptNames = /^(system|user|initial|append_system)?_?prompt$/;

/** Names come back with every event; few of them are asked about anew. */
const judged = new Map<string, boolean>();
const maxJudged = 1_000;

/** Whether what goes under this name must not be kept: a secret, or a prompt. */
export function isSecretName(name: string): boolean {
  let secret = judged.get(name);
  if (secret === undefined) {
    secret = judge(name.slice(0, 200));
    if (judged.size < maxJudged && name.length <= 64) judged.set(name, secret);
  }
  return secret;
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

/** `--password …` on a command line. */
const flag =
  /(--[\w-]{0,40}?(?:api-?key|access-?key|secret|password|passwd|passphrase|credential|token)s?\s{1,4})(?!-|\[redacted\])\S{1,4096}/gi;

/** `api_key=…`, `"password": "…"`, `Cookie: …` inside a text. */
const assignment =
  /((?:authorization|api[_-]?key|access[_-]?key|secret|password|passwd|passphrase|credential|cookie|token)[\w-]{0,20}["']?\s{0,4}[=:]\s{0,4})(?!\[redacted\])("[^"]{0,4096}"?|'[^']{0,4096}'?|[^\s"',;&)}\]]{1,4096})/gi;

/** Shorter than any secret that can be told by its shape; spares most texts of an event the search. */
const shortestSecret = 8;

/** The text without what looks like a secret. */
export function redactText(text: string): string {
  if (text.length < shortestSecret) return text;
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
    if (value !== undefined && value.length >= 8 && isSecretName(name)) found.push(value);
  }
  // The longer first: one may be a part of another.
  return found.sort((one, other) => other.length - one.length);
}
