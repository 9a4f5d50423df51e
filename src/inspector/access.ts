import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Which requests a server answers: those that have the token and did not come from another site. */
export interface AccessRules {
  readonly token: string;
  /** The port that it listens on. */
  readonly port: number;
}

/**
 * Whether a request may be answered. Another site's page reaches a loopback port under a name of its own (DNS rebinding), which its
 * `Host` tells, or from its own origin.
 */
export function isAllowed(
  { headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>,
  rules: AccessRules,
): boolean {
  const hosts = [`127.0.0.1:${rules.port}`, `localhost:${rules.port}`];
  if (headers.host === undefined || !hosts.includes(headers.host.toLowerCase())) return false;
  const { origin } = headers;
  // Programs send none, and no page of ours is in a frame or a file, whose origin is `null`.
  if (origin !== undefined && !hosts.some((host) => origin.toLowerCase() === `http://${host}`)) return false;
  const query = url.indexOf('?');
  return query >= 0 && isSame(new URLSearchParams(url.slice(query)).get('token') ?? '', rules.token);
}

/** Takes as long however much of the token is right. */
function isSame(given: string, token: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(token);
  return a.length === b.length && timingSafeEqual(a, b);
}
