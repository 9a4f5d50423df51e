import { headersKey, isAddress } from '../../../policy/options/httpKeys.ts';
import {
  choice,
  duration,
  either,
  having,
  section,
  integer,
  type AboutKey,
  type Given,
  text,
  type Values,
} from '../../../policy/options/optionKeys.ts';
import { type RemoteSignInOptions, signInKeys, signInRule } from './auth/signInOptions.ts';
import type { RemoteAuth } from './access.ts';

/** Transport by which a remote server is spoken to. */
export type RemoteTransport = 'auto' | 'http' | 'sse';

/** Tells whether an object of the caller's gives the tokens. */
function isOwn(auth: unknown): auth is RemoteAuth {
  return typeof auth === 'object' && auth !== null && 'token' in auth;
}

/** The options of a remote MCP server; the table of docs/remote-mcp.md is made of it and of the type. */
export const remoteServerKeys = {
  /** Its endpoint: `https://mcp.example/mcp`. Without user name and password. */
  url: text({
    required: true,
    secret: true,
    form: isAddress,
    expected: 'an address with http or https, without user name and password',
  }),
  /** Sent with every request; their values are kept out of messages. @defaultValue none */
  headers: headersKey,
  /** Source of its tokens: a sign-in, credentials of the program, or an object of yours. @defaultValue none */
  auth: either<RemoteAuth | Values<typeof signInKeys>, AboutKey, RemoteAuth | RemoteSignInOptions>(
    [
      having<RemoteAuth>('an object with token()', ['token'], { optional: ['refused'] }),
      section(signInKeys, {}, signInRule),
    ],
    (value) => (isOwn(value) ? 0 : 1),
    'an object',
  ),
  /**
   * Streamable HTTP (`http`), or the older transport of 2024 with two endpoints (`sse`); `auto` is the first, and the second where a server
   * refuses it. @defaultValue 'auto'
   */
  transport: choice(['auto', 'http', 'sse'], { given: {} as RemoteTransport, default: 'auto' }),
  /** Limit on connecting up to the end of the handshake, in ms above 0. @defaultValue 10000 */
  handshakeMs: duration({ default: 10_000 }),
  /** Time in ms above 0 that the server may take to take leave of a session. @defaultValue 2000 */
  closeMs: duration({ default: 2000 }),
  /** Time in ms above 0 that a server under suspicion may take to answer a ping. @defaultValue 5000 */
  pingMs: duration({ default: 5000 }),
  /** Longest message taken from the server, in bytes, at least 1024. @defaultValue 67108864 (64 MB) */
  maxMessageBytes: integer({ min: 1024, default: 64 * 1024 * 1024, unit: 'bytes' }),
};

/** An MCP server that is reached by HTTP. */
export interface RemoteServerOptions extends Given<typeof remoteServerKeys> {}

/** {@link RemoteServerOptions}, checked, with the defaults filled in. */
export type RemoteSettings = Values<typeof remoteServerKeys>;

/** The same once it is known where the tokens come from. */
export interface TargetSettings extends Omit<RemoteSettings, 'auth'> {
  readonly auth?: RemoteAuth | undefined;
}

/** Collects all that must not stand in messages: values of headers, and the part after the scheme of an authorization; keys in the query of the address. */
export function remoteSecrets({ url, headers = {} }: Pick<RemoteSettings, 'url' | 'headers'>): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    secrets[name] = value;
    const credentials = /^[A-Za-z][\w-]* +(\S+)$/.exec(value)?.[1];
    if (credentials !== undefined) secrets[`${name} credentials`] = credentials;
  }
  for (const [name, value] of new URL(url).searchParams) secrets[`query ${name}`] = value;
  return secrets;
}

/** Returns the address of a server, for people: its origin, and nothing that could be a secret. */
export function shownAddress(url: string): string {
  return new URL(url).origin;
}
