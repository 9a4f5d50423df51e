import { readFileSync } from 'node:fs';
import type { RemoteServerOptions, RemoteTransport } from '../../src/actors/mcp/http/face.ts';
import { isAddress } from '../../src/policy/options/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import type { Environment } from '../../src/store/face.ts';
import { CommandError, UsageError, valueAmong } from '../errors.ts';
import { quoted } from '../sanitize.ts';
import type { McpArgs } from './options.ts';

const transports: readonly RemoteTransport[] = ['auto', 'http', 'sse'];

/** Options that say something of a server elsewhere. */
export const remoteOnly = [
  'header-env',
  'header-file',
  'transport',
  'sign-in',
  'device',
  'client-id',
  'client-secret-env',
  'scope',
  'callback-port',
] as const;

/**
 * The server that `--url` names. What is secret comes from the environment or a file: a command line is for everybody on the machine to see.
 * @throws {@link UsageError} or {@link CommandError} that names what is wrong.
 */
export function planRemote(
  args: McpArgs,
  url: string,
  env: Environment,
): Pick<RemoteServerOptions, 'url' | 'headers' | 'auth' | 'transport'> {
  if (!isAddress(url)) {
    throw new UsageError('Expected `--url` to be an address with http or https, without user name and password');
  }
  const transport = valueAmong('--transport', args.transport, transports);
  const secret = args['client-secret-env'];
  const clientId = args['client-id'];
  if (!args['sign-in'] && !args.device && (clientId === undefined) !== (secret === undefined)) {
    throw new UsageError(
      'Expected `--client-id` and `--client-secret-env` together, unless with `--sign-in` or `--device`',
    );
  }
  if (!args['sign-in'] && args['callback-port'] !== undefined) {
    throw new UsageError('Option --callback-port is for --sign-in');
  }
  return {
    url,
    headers: headersOf(args, env),
    transport,
    ...((secret !== undefined || args.device) && {
      auth: {
        grant: args.device ? ('device_code' as const) : ('client_credentials' as const),
        clientId,
        clientSecret: secret === undefined ? undefined : variable('--client-secret-env', secret, env),
        scope: args.scope,
      },
    }),
  };
}

/** Returns the name of a server that was given none: its host, without the parts that many have in common. */
export function remoteName(url: string): string {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (/^[\d.:a-f]+$|^localhost$/i.test(host)) return port === '' ? host : `${host}:${port}`;
  return host.replace(/^(?:www|mcp|api)\.(?=[^.]+\.)/, '');
}

/** The value of a variable. @throws {@link UsageError} when it is not set: a request without it would say so much later. */
export function variable(option: string, name: string, env: Environment): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined || value === '') {
    throw new UsageError(`Expected \`${option}\` to name a variable of the environment, ${quoted(name)} is not set`);
  }
  return value;
}

function headersOf(args: McpArgs, env: Environment): Readonly<Record<string, string>> | undefined {
  const headers: Record<string, string> = {};
  const { 'header-env': named, 'header-file': file } = args;
  for (const [name, value] of file === undefined ? [] : linesOf(file)) headers[name] = value;
  for (const text of named) {
    const at = text.indexOf('=');
    const name = text.slice(0, at);
    if (at <= 0 || !isHeaderName(name) || at === text.length - 1) {
      throw new UsageError(`Expected \`--header-env\` to be NAME=VARIABLE, got ${quoted(text)}`);
    }
    headers[name] = variable('--header-env', text.slice(at + 1), env);
  }
  return Object.keys(headers).length === 0 ? undefined : headers;
}

/** `Name: value` on each line; empty ones and those that begin with `#` say nothing. */
function linesOf(file: string): readonly (readonly [string, string])[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`The header file ${quoted(file)} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim();
    // The text of the line may be a secret.
    if (at <= 0 || !isHeaderName(name)) {
      throw new CommandError(`Expected line ${index + 1} of the header file ${quoted(file)} to be \`Name: value\``);
    }
    return [[name, line.slice(at + 1).trim()] as const];
  });
}

function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}
