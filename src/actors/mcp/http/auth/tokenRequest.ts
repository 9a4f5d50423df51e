import type { FetchLike } from '@modelcontextprotocol/client';
import { classify } from '../../../../policy/failures/classify.ts';
import type { Clock } from '../../../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../../../policy/failures/failure.ts';
import { formatDuration } from '../../../../policy/text/duration.ts';
import { KeptConnections } from '../../../../streams/keptConnections.ts';
import { ownDispatcher } from '../../../../streams/ownDispatcher.ts';
import { dropBody, readBody } from '../../../../streams/readBody.ts';

/** Limit on all requests that one token takes, in ms. */
export const tokenRequestMs = 15_000;

const mostBytes = 1_048_576;
const mostRedirects = 5;

/** A conversation with an authorization server: as many requests as it takes, within one limit. */
export class TokenRequest {
  readonly #clock: Clock;
  /** The address of the server that the tokens are for. */
  readonly #server: string;
  readonly #limitMs: number;
  readonly #own = new AbortController();
  readonly #kept = new KeptConnections();
  readonly #timer: ReturnType<Clock['setTimeout']>;
  /** Status and headers of the last answer. */
  #last: { readonly status: number; readonly headers: Headers } | undefined;
  /** The last request got no whole answer. */
  #isBroken = false;

  constructor(clock: Clock, server: string, limitMs = tokenRequestMs) {
    this.#clock = clock;
    this.#server = server;
    this.#limitMs = limitMs;
    this.#timer = clock.setTimeout(() => this.#own.abort(new Error('limit')), limitMs, { ref: true });
  }

  /** Reads bodies whole, so that the limits hold for them too. */
  readonly fetch: FetchLike = async (url, init) => {
    this.#last = undefined;
    const { signal } = this.#own;
    const response = await this.#ask(new URL(url), { ...init, signal, redirect: 'manual' });
    const { bytes, end, error } = await readBody(response, { maxBytes: mostBytes, signal });
    if (end === 'broken') throw error;
    if (end !== 'ended') throw new Error(end === 'full' ? `More than ${mostBytes} bytes` : 'limit');
    const { status, headers } = response;
    this.#last = { status, headers };
    this.#isBroken = false;
    return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
  };

  /**
   * Asks by https, unless the server itself is not: its metadata says whom to ask, and might name a service of this machine or network. Redirects are followed
   * of what is only read: followed, a code or a secret would be given to somebody else.
   */
  async #ask(url: URL, init: RequestInit): Promise<Response> {
    for (let redirects = 0; ; redirects++) {
      if (url.protocol !== 'https:' && this.#server.startsWith('https:'))
        throw refused(`${url.origin} is not asked for a token: it is not https, as the server is`);
      this.#isBroken = true;
      const response = await fetch(url, { ...init, ...ownDispatcher(this.#kept) });
      const to = response.headers.get('location');
      const isRead = (init.method ?? 'GET') === 'GET';
      if (response.status < 300 || response.status > 399 || to === null || !isRead || redirects >= mostRedirects)
        return response;
      dropBody(response);
      url = new URL(to, url);
    }
  }

  /** The name of the error that the authorization server gave, where it gave one and meant us. */
  refusal(error: unknown): string | undefined {
    if ((this.#last?.status ?? 500) >= 500 || this.#last?.status === 429) return undefined;
    const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
    return typeof code === 'string' && code !== 'server_error' && code !== 'temporarily_unavailable' ? code : undefined;
  }

  /** Why it failed for no fault of ours. What the other side wrote is not repeated: it may hold what it was sent. */
  failure(error: unknown): FailureFacts {
    if (error instanceof AttemptError) return error.facts;
    const wallNow = this.#clock.wallNow();
    const about = 'The authorization server';
    if (this.#own.signal.aborted) {
      const message = `${about} did not answer within ${formatDuration(this.#limitMs)}`;
      return { kind: 'timeout', message, outcome: 'not_started' };
    }
    if (this.#isBroken) {
      const { kind, code, message } = classify(error, { wallNow });
      return { kind, code, message: `${about} cannot be reached: ${message}`, outcome: 'not_started' };
    }
    const { status, headers } = this.#last ?? { status: 200, headers: new Headers() };
    if (status < 400) {
      const message = distrust[nameOf(error)] ?? `${about} gave no valid answer`;
      return { kind: 'auth', message, outcome: 'not_started' };
    }
    const said = Object.assign(new Error(`HTTP ${status}`), {
      status,
      headers: { get: (name: string) => headers.get(name) },
    });
    const { kind, retryAfterMs } = classify(said, { wallNow });
    return { kind, status, retryAfterMs, message: `${about} answered ${status}`, outcome: 'not_started' };
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#kept.close();
  }
}

/** A plain refusal of ours. */
export function refused(message: string): AttemptError {
  return new AttemptError({ kind: 'auth', message, outcome: 'not_started' });
}

/** Findings of the client's checks, by the name of their error. */
const distrust: Readonly<Record<string, string>> = {
  IssuerMismatchError: 'The authorization server answered in the name of another',
  AuthorizationServerMismatchError: 'The client belongs to another authorization server',
  InsecureTokenEndpointError: 'The authorization server is not asked by https',
};

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : '';
}
