import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Token that a request has to show beside where it comes from. */
export interface AccessToken {
  readonly value: string;
  /** `query`: as `?token=…`, for addresses that people open. `bearer`: in the header `Authorization`, for programs. */
  readonly in: 'query' | 'bearer';
}

/** Rules of which requests a server answers. */
export interface AccessRules {
  /** The port that it listens on. */
  readonly port: number;
  /** @defaultValue none: whoever is on this machine may ask */
  readonly token?: AccessToken | undefined;
  /** Lets a page of another site send its reader here by a link or a redirect. @defaultValue only with a token in the query */
  readonly isLinked?: boolean | undefined;
  /** Lets the host be called by any name. @defaultValue false: by those of the loopback address */
  readonly anyHost?: boolean | undefined;
}

/** Why a request is not answered. */
export interface Refusal {
  readonly status: '400 Bad Request' | '401 Unauthorized' | '403 Forbidden' | '405 Method Not Allowed';
  /** Reason in one sentence. */
  readonly reason: string;
}

type Asked = Pick<IncomingMessage, 'headers'> & Partial<Pick<IncomingMessage, 'url' | 'method' | 'rawHeaders'>>;

/**
 * Why a request may not be answered; undefined where it may. Another site's page reaches a loopback port under a name of its own (DNS
 * rebinding), which its `Host` tells, or from its own origin, which its browser tells.
 */
export function refusalOf(request: Asked, rules: AccessRules): Refusal | undefined {
  return shapeRefusal(request) ?? siteRefusal(request, rules) ?? tokenRefusal(request, rules.token);
}

/** Refuses what no client of ours sends: it would mean one thing to us, and another to whoever it is passed on to. */
function shapeRefusal({ method = 'GET', url = '/', rawHeaders = [] }: Asked): Refusal | undefined {
  if (method === 'TRACE' || method === 'CONNECT')
    return { status: '405 Method Not Allowed', reason: `The method ${method} is not served here.` };
  if (!url.startsWith('/')) {
    const reason = 'The target of a request has to begin with its path: this is no proxy for addresses of other hosts.';
    return { status: '400 Bad Request', reason };
  }
  if (/^\/[/\\]/.test(url))
    return { status: '400 Bad Request', reason: 'The path begins with two slashes; one of them is too many.' };
  if (upward.test(url)) return { status: '400 Bad Request', reason: 'The path leads upward, by `..`.' };
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) hosts++;
  if (hosts > 1) return { status: '400 Bad Request', reason: 'The request has more than one header Host.' };
  return undefined;
}

/** Segments of a path that lead out of what is above them, as servers and proxies read them. */
const upward = /^[^?#]*[/\\](?:\.|%2e){2}(?:[/\\?#]|$)/i;

const isHost = (name = ''): boolean => name.length === 4 && name.toLowerCase() === 'host';

function siteRefusal({ method = 'GET', headers }: Asked, rules: AccessRules): Refusal | undefined {
  const { port, token, isLinked, anyHost = false } = rules;
  const { host, origin } = headers;
  const site = headers['sec-fetch-site'];
  // As programs ask.
  if (host === `127.0.0.1:${port}` && origin === undefined && site === undefined) return undefined;
  const own = ['127.0.0.1', 'localhost'].flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
  const hosts = anyHost && host !== undefined ? [host.toLowerCase()] : own;
  const status = '403 Forbidden';
  if (host === undefined)
    return { status, reason: `The request has no header Host; it has to be 127.0.0.1:${port} or localhost:${port}.` };
  if (!hosts.includes(host.toLowerCase()))
    return { status, reason: `The header Host has to be 127.0.0.1:${port} or localhost:${port}, with the port.` };
  // Programs send none, and no page of ours is in a frame or a file, whose origin is `null`.
  if (origin !== undefined && !hosts.some((each) => isOrigin(origin.toLowerCase(), each, anyHost)))
    return { status, reason: 'The request comes from a page of another site (by its header Origin).' };
  // Browsers send no origin with what a page loads by GET, such as pictures.
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (method === 'GET' && isLink && (isLinked ?? token?.in === 'query')) return undefined;
  return { status, reason: 'The request comes from a page of another site (by its header Sec-Fetch-Site).' };
}

/** Under a name of its own it may be behind a proxy that speaks TLS. */
function isOrigin(origin: string, host: string, anyHost: boolean): boolean {
  return origin === `http://${host}` || (anyHost && origin === `https://${host}`);
}

function tokenRefusal(request: Asked, token: AccessToken | undefined): Refusal | undefined {
  if (token === undefined || shows(request, token)) return undefined;
  return token.in === 'bearer'
    ? { status: '401 Unauthorized', reason: 'The header Authorization has to hold the token: `Bearer TOKEN`.' }
    : { status: '403 Forbidden', reason: 'The address has to hold the token: `?token=TOKEN`.' };
}

/** Tells whether a request shows a token; takes as long however much of it is right. */
export function shows(request: Asked, token: AccessToken): boolean {
  return isSame(shownToken(request, token.in), token.value);
}

function shownToken({ headers, url = '/' }: Asked, where: AccessToken['in']): string {
  if (where === 'bearer') return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const query = url.indexOf('?');
  return query < 0 ? '' : (new URLSearchParams(url.slice(query)).get('token') ?? '');
}

/** Takes as long however much of the token is right. */
function isSame(given: string, token: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(token);
  return a.length === b.length && timingSafeEqual(a, b);
}
