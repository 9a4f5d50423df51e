import { readFileSync } from 'node:fs';
import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import { isProgram, msIn, nearest, plainJson, programForm, show } from '../../src/policy/text/face.ts';
import { isAddress } from '../../src/policy/options/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import type { Environment } from '../../src/store/face.ts';
import { CommandError } from '../errors.ts';
import { quoted, sanitize } from '../sanitize.ts';

/** A server as a file of clients has it. */
export type FileServer = Pick<McpProxyOptions, 'name' | 'command' | 'args' | 'env' | 'cwd' | 'remote' | 'handshakeMs'>;

/** It is the beginning of the names of tools, which have 64 characters at most. */
const longestName = 40;

/** The content of a file of servers, or of a configuration, as that is read: JSON5. Rejects with {@link CommandError} when it cannot be read. */
export async function readServersFile(file: string): Promise<unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${quoted(file)} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return await contentOf(text);
  } catch (error) {
    throw new CommandError(`${quoted(file)} cannot be read as JSON: ${messageOf(error)}`, { cause: error });
  }
}

async function contentOf(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    // Loaded only for the few files that are no plain JSON: a client waits for the start.
    return (await import('../../src/config/configFile.ts')).parseJson(text);
  }
}

/**
 * The servers of a file that can be used, and what is said of the others and of names that had to change, a sentence each.
 * The servers of a file: `{ "mcpServers": { NAME: { "command", "args", "env", "cwd" } | { "url", "headers" } } }`. What else is in it is of other programs; `${VARIABLE}` and
 * `${VARIABLE:-ELSE}` stand for variables of our own environment. What cannot be used is left out and named.
 * @param hasOthers - something else of the file is served, so that no server has to be left. @defaultValue false
 * @throws {@link CommandError} that tells all that is wrong, where nothing is left.
 */
export function serversIn(file: string, content: unknown, env: Environment, hasOthers = false) {
  const fields = fieldsIn(content);
  const table = fieldsIn(fields?.['mcpServers']);
  if (table === undefined) {
    const others = ['agents', 'hooks'].filter((key) => fields?.[key] !== undefined);
    const besides = others.length === 0 ? '' : `; with ${others.join(' and ')} alone it is for \`unwedge serve\``;
    throw new CommandError(`Expected ${quoted(file)} to have an object \`mcpServers\`${besides}`);
  }
  const { servers, problems, notes } = judgeServers(table, env);
  const told = problems.map(({ name, says }) => (name === undefined ? says : `${quoted(name)}: ${says}`));
  if (servers.length === 0 && !hasOthers)
    throw new CommandError(`The servers of ${quoted(file)} cannot be used: ${told.join('; ')}`);
  return { servers, notes: [...notes, ...told.map((each) => `Of ${quoted(file)} is left out ${each}`)] };
}

/** The servers that can be used, and what is wrong with the others, or with all of them. */
interface JudgedServers {
  readonly servers: readonly FileServer[];
  readonly problems: readonly { readonly name?: string; readonly says: string }[];
  /** Names that are not what they are in the file, a sentence each. */
  readonly notes: readonly string[];
  /** Variables without an `:-ELSE`: they have to be set where the servers start. */
  readonly variables: readonly string[];
}

/**
 * Judges the servers under `mcpServers`.
 * @param env - undefined where the file alone is judged: variables stay as they are written then.
 */
export function judgeServers(table: Readonly<Record<string, unknown>>, env: Environment | undefined): JudgedServers {
  const problems: { readonly name?: string; readonly says: string }[] = [];
  const variables = new Set<string>();
  const notes: string[] = [];
  const names = usableNames(table);
  const servers = Object.entries(table).flatMap(([written, value]) => {
    const entry = fieldsIn(value);
    if (entry?.['disabled'] === true) return [];
    const name = names.get(written) ?? written;
    const says = nameFlaw(name, written, names);
    const server = says ?? (entry === undefined ? 'expected an object' : serverOf(name, entry, env, variables));
    if (typeof server === 'string') {
      problems.push({ name: written, says: server });
      return [];
    }
    if (name !== written)
      notes.push(
        `${quoted(written)} is called ${name}: names of tools begin with it, and have letters, digits, - and _`,
      );
    return [server];
  });
  if (problems.length === 0 && servers.length === 0) problems.push({ says: 'it has no server' });
  return { servers, problems, notes, variables: [...variables] };
}

/** Names as tools can begin with them, by those of the file: any other character is `_`. */
function usableNames(table: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const used = Object.keys(table).filter((name) => fieldsIn(table[name])?.['disabled'] !== true);
  return new Map(used.map((name) => [name, Array.from(name, (each) => (/[\w-]/.test(each) ? each : '_')).join('')]));
}

/** Finds the fault with a name; of several that are the same once changed, the one that is written so has it, else the first. */
function nameFlaw(name: string, written: string, names: ReadonlyMap<string, string>): string | undefined {
  if (name === '') return 'it has no name, with which names of tools begin';
  if (name.length > longestName) return `a name has at most ${longestName} characters: names of tools begin with it`;
  const same = [...names].filter(([, each]) => each === name).map(([each]) => each);
  const owner = same.find((each) => each === name) ?? same[0];
  return owner === written || owner === undefined
    ? undefined
    : `its name would be ${name}, which is that of ${quoted(owner)}`;
}

/**
 * The server, or what is wrong with it.
 * @param needed - is given the variables that have to be set.
 */
function serverOf(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  env: Environment | undefined,
  needed: Set<string>,
): FileServer | string {
  const { command, args = [], env: own = {}, cwd, url, headers = {}, type, handshakeMs: limit } = entry;
  const handshakeMs = limit === undefined ? undefined : startLimitIn(limit);
  if (typeof handshakeMs === 'string') return handshakeMs;
  // A limit that its entry does not name is left to who reads the file.
  const ownLimit = handshakeMs === undefined ? {} : { handshakeMs };
  const missing: string[] = [];
  const filled = (key: string, text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (written, variable: string, otherwise: string | undefined) => {
      if (otherwise === undefined) needed.add(variable);
      if (env === undefined) return written;
      const value = Object.hasOwn(env, variable) ? env[variable] : otherwise;
      if (value === undefined) missing.push(`\`${key}\` needs the variable ${variable}, which is not set`);
      return value ?? '';
    });
  const filledAll = (key: string, texts: object): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([each, value]) => [each, filled(`${key}.${each}`, String(value))]));
  if (url !== undefined && command !== undefined)
    return 'expected `command` or `url`, got both: a server is run here, or reached by HTTP';
  if (url !== undefined) {
    const shown = fieldsIn(headers);
    if (shown === undefined || !Object.values(shown).every(isText))
      return 'expected `headers` to be an object of texts';
    const address = isText(url) ? filled('url', url) : '';
    const transport = type === 'sse' ? ('sse' as const) : undefined;
    const remote = { url: address, headers: filledAll('headers', shown), transport };
    if (missing.length > 0) return missing.join(', ');
    const isUnknown = env === undefined && address.includes('${');
    return isUnknown || isAddress(address)
      ? { name, remote, ...ownLimit }
      : 'expected `url` to be an address with http or https';
  }
  if (typeof command !== 'string' || command === '') return 'expected `command` to be a text';
  if (!Array.isArray(args) || !args.every(isText)) return 'expected `args` to be an array of texts';
  const variables = fieldsIn(own);
  if (variables === undefined || !Object.values(variables).every(isText))
    return 'expected `env` to be an object of texts';
  if (cwd !== undefined && !isText(cwd)) return 'expected `cwd` to be a text';
  if (!isProgram(command)) return `expected \`command\` to be ${programForm.expected}, got ${show(command)}`;
  const server = {
    name,
    command: filled('command', command),
    args: args.map((each, index) => filled(`args.${index}`, each)),
    env: filledAll('env', variables),
    cwd: cwd === undefined ? undefined : filled('cwd', cwd),
    ...ownLimit,
  };
  return missing.length > 0 ? missing.join(', ') : server;
}

/** Reads the limit of a start, in ms above 0, or says what is wrong with it. */
function startLimitIn(value: unknown): number | string {
  const ms = isText(value) ? msIn(value) : value;
  if (typeof ms === 'number' && ms > 0 && Number.isFinite(ms)) return ms;
  return `expected \`handshakeMs\` to be ms above 0, or a text as "90s", got ${plainJson(JSON.stringify(value)).slice(0, 60)}`;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The members of an object; undefined when it is none. */
export function fieldsIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** Keys of a server, in the shape that clients have. */
export const serverKeys: readonly string[] = [
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'type',
  'disabled',
  'handshakeMs',
];

/** Other words for these that are too far from them to be a misspelling. */
const otherWords: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  environment: 'env',
  workingDirectory: 'cwd',
};
/** Keys of other programs, near a key of ours by chance. */
const foreign: ReadonlySet<string> = new Set(['dev']);

/**
 * The keys of servers that look like a misspelling of one that the server lacks, a sentence each. Clients keep keys of their own in such a file, of
 * which nothing is said.
 * @param servers - the value of `mcpServers`.
 */
export function misspeltKeys(servers: unknown): readonly string[] {
  return entriesOf(servers).flatMap(([name, server]) => {
    const own = entriesOf(server).map(([key]) => key);
    const lacking = serverKeys.filter((key) => !own.includes(key));
    return own.flatMap((key) => {
      if (serverKeys.includes(key) || foreign.has(key)) return [];
      const word = Object.hasOwn(otherWords, key) ? otherWords[key] : nearest(key, serverKeys);
      if (word === undefined || !lacking.includes(word)) return [];
      return [`\`${sanitize(`mcpServers.${name}.${key}`)}\` is read by nobody; did you mean ${word}?`];
    });
  });
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
