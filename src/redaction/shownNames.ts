import { KnownSecrets } from './knownSecrets.ts';
import { maxNameBytes } from '../policy/options/storedName.ts';
import { holdsName } from './secretNames.ts';
import { createTextRedactor, type Hiding } from './secrets.ts';

/** The name of an integration, a tool or a session as it may be shown. */
export type ShownName = (name: string) => string;

/** Names come back with every look; so many are remembered. */
const most = 10_000;

/** Characters that are left of a name that is too long to be kept. */
const keptChars = 200;

/**
 * Takes secrets out of names, by the same shapes as out of events. Two names that differ are never shown as the same: behind one that was
 * changed stands `#` and the beginning of a hash. A name that was shown is shown as it is. One of more than 1,024 bytes is cut: a model may
 * call a tool by any text, and what is counted of it is found by its name.
 * @param secrets - to be found wherever they stand. @defaultValue those of the environment of this process
 */
export function createShownNames(secrets: Hiding = new KnownSecrets(process.env)): ShownName {
  const texts = createTextRedactor(secrets);
  const known = new Map<string, string>();
  let version = secrets.version;
  return (name) => {
    if (secrets.version !== version) known.clear();
    version = secrets.version;
    const found = known.get(name);
    if (found !== undefined) return found;
    const clean = texts.text(name);
    const shown = keptApart(name, shortened(clean));
    if (known.size >= most) known.clear();
    known.set(name, shown);
    return shown;
  };
}

/** The name among these that is given: as it is, or as it is shown. */
export function nameAmong(names: readonly string[], given: string, shown: ShownName): string | undefined {
  return names.includes(given) ? given : names.find((name) => shown(name) === given);
}

/** A name without secrets, which is not that of another one. @param clean - the same text without secrets. */
export function keptApart(name: string, clean: string): string {
  return clean === name ? name : `${clean}#${shortHash(name)}`;
}

/** A copy of plain data with the names of integrations, tools and sessions as they may be shown, told by the name of their field. */
export function withShownNames<T>(data: T, shown: ShownName): T {
  return copy(data, shown, false) as T;
}

function copy(value: unknown, shown: ShownName, isName: boolean): unknown {
  if (typeof value === 'string') return isName ? shown(value) : value;
  if (Array.isArray(value)) return value.map((each) => copy(each, shown, isName));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, copy(each, shown, holdsName(field))]));
}

function shortened(name: string): string {
  return Buffer.byteLength(name) <= maxNameBytes ? name : `${name.slice(0, keptChars).toWellFormed()}…`;
}

/** Tells names apart and says nothing of them: short enough that nobody finds the name by it. */
function shortHash(name: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update('unwedge:').update(name).digest('hex').slice(0, 6);
}
