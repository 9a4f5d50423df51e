import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a request has to show beside where it comes from. */
export interface AccessToken {
  readonly value: string;
  /** `query`: as `?token=…`, for addresses that people open. `bearer`: in the header `Authorization`, for programs. */
  readonly in: 'query' | 'bearer';
}

/** Which requests a server answers. */
export interface AccessRules {
  /** The port that it listens on. */
  readonly port: number;
  /** @defaultValue none: whoever is on this machine may ask */
  readonly token?: AccessToken | undefined;
}

/** `foreign`: asked for under another name, or by the page of another site. `unauthorized`: without the token. */
export type Access = 'allowed' | 'foreign' | 'unauthorized';

type Asked = Pick<IncomingMessage, 'headers' | 'url'>;

/**
 * Whether a request may be answered. Another site's page reaches a loopback port under a name of its own (DNS rebinding), which its
 * `Host` tells, or from its own origin.
 */
export function accessOf(request: Asked, { port, token }: AccessRules): Access {
  const { host, origin } = request.headers;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host.toLowerCase())) return 'foreign';
  // Programs send none, and no page of ours is in a frame or a file, whose origin is `null`.
  if (origin !== undefined && !hosts.some((each) => origin.toLowerCase() === `http://${each}`)) return 'foreign';
  return token === undefined || isSame(shownToken(request, token.in), token.value) ? 'allowed' : 'unauthorized';
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
