import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Right of a request: everything, look, or nothing. */
export type Right = 'all' | 'read' | 'none';

/** Visitor who asks, and what they may do. */
export interface Visitor {
  readonly right: Right;
  /** As it is recorded with what they order. */
  readonly by: string;
}

/** Browsers that are let in at a time by tokens: the one that came first has to come again when there are more. */
const mostCookies = 64;

/**
 * Lets browsers in by a token that is good once: whoever shows it gets a cookie that scripts cannot read and other sites cannot send. The
 * next token is made when one was used.
 */
export class Doorkeeper {
  readonly #cookies: string[] = [];
  #token = secret();

  /** The token that is good now. */
  get token(): string {
    return this.#token;
  }

  /**
   * The header `Set-Cookie` for who shows the token; undefined for any other.
   * @param port - of the server: cookies know hosts and no ports.
   */
  admit(token: string, port: number): string | undefined {
    if (!isSame(token, this.#token)) return undefined;
    this.#token = secret();
    const value = secret();
    this.#cookies.push(value);
    if (this.#cookies.length > mostCookies) this.#cookies.shift();
    return `${cookieName(port)}=${value}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Tells whether the request shows the cookie of a browser that was let in. */
  knows({ headers }: Pick<IncomingMessage, 'headers'>, port: number): boolean {
    const name = `${cookieName(port)}=`;
    const shown = (headers.cookie ?? '').split(';').map((each) => each.trim());
    return shown.some(
      (each) => each.startsWith(name) && this.#cookies.some((known) => isSame(each.slice(name.length), known)),
    );
  }
}

const cookieName = (port: number): string => `unwedge_dashboard_${port}`;

const secret = (): string => randomBytes(18).toString('base64url');

/** Takes as long however much of it is right. */
function isSame(given: string, known: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(known);
  return a.length === b.length && timingSafeEqual(a, b);
}
