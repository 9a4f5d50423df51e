import type { IncomingHttpHeaders } from 'node:http';

/** They speak of one connection, and there are two. */
const ofOneConnection: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers as Node writes them: names and values in turn. */
type RawHeaders = readonly string[];

/** Changes to the headers of a request on their way. */
interface RequestChanges {
  readonly host: string;
  /** Bytes of a body that is known as a whole; undefined when its length is as the client says, or unknown. */
  readonly bodyBytes: number | undefined;
  /** True where the answer is read, so that it must not be compressed. */
  readonly isRead: boolean;
  /** The credential that takes the place of the client's. */
  readonly key: string | undefined;
  /** The trace that the request belongs to, in place of what the client says. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
}

/** The headers of a request for the upstream: all, as they came, but for those of the connection. */
export function requestHeaders(
  raw: RawHeaders,
  headers: IncomingHttpHeaders,
  { host, bodyBytes, isRead, key, trace = {} }: RequestChanges,
): string[] {
  const dropped = droppedOf(headers);
  const passed = ['Host', host];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'host' || dropped.has(lower) || lower in trace) continue;
    if (lower === 'accept-encoding' && isRead) continue;
    if (lower === 'content-length' && bodyBytes !== undefined) continue;
    if (key !== undefined && isOfAccount(lower)) continue;
    passed.push(name, key !== undefined && credentialNames.has(lower) ? replaced(lower, key) : value);
  }
  for (const [name, value] of Object.entries(trace)) passed.push(name, value);
  if (isRead) passed.push('accept-encoding', 'identity');
  if (bodyBytes !== undefined && (bodyBytes > 0 || headers['content-length'] !== undefined))
    passed.push('content-length', String(bodyBytes));
  return passed;
}

/**
 * The headers of an answer for the client.
 * @param isRead - whether its end is decided here: then its length is not known before.
 */
export function answerHeaders(raw: RawHeaders, headers: IncomingHttpHeaders, isRead: boolean): string[] {
  const dropped = droppedOf(headers);
  const passed: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (!dropped.has(lower) && !(isRead && lower === 'content-length')) passed.push(name, value);
  }
  return passed;
}

/** Headers that hold the key of a client. */
const credentialNames: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-auth-token',
]);

/** Headers that belong to the account of a client's key: with another key they are of no use, and nobody else's business. */
const accountNames: ReadonlySet<string> = new Set([
  'chatgpt-account-id',
  'cookie',
  'openai-organization',
  'openai-project',
  'x-amz-security-token',
  'x-goog-user-project',
]);

/** Others that hold a secret by their name, such as those of gateways. */
const secretName = /(?:^|-)(?:auth|authorization|token|secret|password|credentials?|(?:api)?key)(?:-|$)/;
const idempotencyKey = /^(?:x-)?idempotency-key$/;

function isOfAccount(lower: string): boolean {
  if (credentialNames.has(lower)) return false;
  return accountNames.has(lower) || (secretName.test(lower) && !idempotencyKey.test(lower));
}

/** Parameters of a query that hold a key, as some APIs have it. */
const credentialParameter = /([?&](?:(?:api|subscription)[-_]?)?key=|[?&](?:(?:access|auth)[-_]?)?token=)[^&]*/gi;

/** The path and query of a request, with another key where the client puts its own there. */
export function requestUrl(url: string, key: string | undefined): string {
  return key === undefined
    ? url
    : url.replace(credentialParameter, (_, name: string) => name + encodeURIComponent(key));
}

/** Returns the credentials that a client shows to the upstream; empty when it shows nothing. */
export function credentialOf(headers: IncomingHttpHeaders): string {
  let shown = '';
  for (const name of credentialNames) shown += `${String(headers[name] ?? '')}\n`;
  return shown.slice(0, -1);
}

function replaced(name: string, key: string): string {
  return name === 'authorization' ? `Bearer ${key}` : key;
}

function droppedOf({ connection }: IncomingHttpHeaders): ReadonlySet<string> {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return ofOneConnection;
  // It names further ones.
  return new Set([...ofOneConnection, ...connection.split(',').map((name) => name.trim().toLowerCase())]);
}
