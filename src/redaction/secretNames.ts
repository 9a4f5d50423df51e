/** Stands where a secret stood. */
export const redacted = '[redacted]';

/** Kind of what goes under a name: a secret or a prompt, an environment (its names are kept, its values never), or anything else. */
export type NameMeaning = 'secret' | 'environment' | 'plain';

/** Words that stand before `key` where the key is a secret; a `session_key` and a `public_key` are none. */
const keyQualifiers =
  'api|access|account|admin|app|auth|client|consumer|deploy|encryption|functions?|host|ingest|license|master|private|server|service|' +
  'shared(?:[_-]?access)?|secret|signing|ssh|storage|subscription|webhook|write';

/** Parts of a name, as it stands in a text, that tell a secret. */
export const namePart =
  `authori[sz]ation|(?:${keyQualifiers})[_-]?key|secret|passw(?:or)?d|passphrase|passcode|credential|cookie|token|` +
  'x-(?:amz|goog)-signature';

const secretNames = new RegExp(
  `authori[sz]ation|(?:${keyQualifiers})_?key|secret|password|passwd|passphrase|passcode|credential|cookie|bearer|token|` +
    '^x_(?:amz|goog)_signature$|^_?auth$|^jwt$|^pwd$|^pw$|^pass$|^pin$|^otp$|^sig$',
);
const countNames = /tokens$|token_?(count|limit|usage|budget)$/;
const promptNames = /^(system|user|initial|append_system)?_?prompt$/;

/** Words of the names of variables; nothing else that goes into an environment has such a name. */
const variableNames =
  /(?:^|_)(?:keys?|pass|pw|pwd|pat|dsn|creds?|jwt|auth|sas|sig|signature|salt|webhook|conn(?:ection)?_?str(?:ing)?)(?:$|_)/;
/** Names of where something is, and not of what is in it; `PWD` stands in every stack. */
const placeNames = /^(?:old)?pwd$|(?:^|_)(?:dir|file|home|path|sock|socket)$/;

/** Tells whether what goes under this name must not be kept: a secret, or a prompt. */
export function isSecretName(name: string): boolean {
  const plain = snakeCase(name);
  return (secretNames.test(plain) && !countNames.test(plain)) || promptNames.test(plain);
}

/** Tells whether a variable of this name holds a secret. */
export function isSecretVariable(name: string, value: string): boolean {
  const plain = snakeCase(name);
  if (countNames.test(plain) || (placeNames.test(plain) && value.startsWith('/'))) return false;
  return secretNames.test(plain) || variableNames.test(plain);
}

function snakeCase(name: string): string {
  return name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[-. ]/g, '_');
}

const headers = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^(?:x|ocp)-[\w-]{1,60}$/i;

/** Tells whether an item of a list says that the next one is a secret: a flag of a command line, or a header as Node lists them raw. */
export function announcesSecret(item: unknown): boolean {
  if (typeof item !== 'string' || item.length > 64) return false;
  if (/^--?[A-Za-z][\w-]*$/.test(item)) return isSecretName(item.replace(/^-+/, ''));
  return headers.test(item) && isSecretName(item);
}

/** Under these, data holds names; a list of texts under one of the last two holds names too. */
const nameFields = new Set(['integration', 'tool', 'session', 'group', 'call', 'integrations', 'sessions']);

/** Tells whether the texts of a field are names of integrations, tools, sessions or calls. */
export function holdsName(field: string): boolean {
  return nameFields.has(field);
}
