import { AttemptError } from '../../../policy/failure.ts';
import { KeptConnections } from '../../../streams/keptConnections.ts';
import { ownDispatcher } from '../../../streams/ownDispatcher.ts';
import { dropBody } from '../../../streams/readBody.ts';
import type { Access } from './access.ts';
import { brokenFacts, type FailureScope, refusalText, statusFacts } from './httpFailure.ts';
import { namesSession } from './sessionDoubt.ts';

/** An HTTP request to a server. */
interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** @defaultValue the endpoint */
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** Tells whether a 401 is meant for the session that the request is of, and not for its token; the session is gone then. Never rejects. */
  readonly isOfSession?: ((text: string) => Promise<boolean>) | undefined;
}

/** Redirects that are followed in a row. */
const mostRedirects = 5;

/** Sends requests to one server: with its headers and its token, never to anybody else. */
export class Requester {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string | undefined>>;
  readonly #access: Access;
  readonly #scope: FailureScope;
  readonly #kept = new KeptConnections();

  constructor(
    { url, headers = {} }: { url: string; headers?: Readonly<Record<string, string | undefined>> | undefined },
    access: Access,
    scope: FailureScope,
  ) {
    this.#url = url;
    this.#headers = headers;
    this.#access = access;
    this.#scope = scope;
  }

  /**
   * The answer with its headers, whatever its status but a 401 that is meant for the token; its body is unread.
   * @throws {@link AttemptError} that says what is known; what the signal was aborted with.
   */
  async send(request: HttpRequest): Promise<Response> {
    const { signal } = request;
    for (let isAgain = false; ; isAgain = true) {
      const token = await this.#access.token(signal);
      const response = await this.#fetch(request, token);
      if (!isRefusal(response)) {
        if (response.ok) this.#access.accepted(token);
        return response;
      }
      const text = await refusalText(response, this.#scope.clock, signal);
      const facts = statusFacts(response, text, this.#scope);
      signal.throwIfAborted();
      // A token that the server refuses is renewed without a question, unless it names the session; one that cannot be is asked about.
      const mayBeSession = response.status === 401 && (namesSession(text) || !this.#access.renews);
      if (mayBeSession && (await request.isOfSession?.(text)) === true) return repeated(response, text);
      signal.throwIfAborted();
      const wwwAuthenticate = response.headers.get('www-authenticate') ?? undefined;
      const { status } = response;
      const renewed = !isAgain && (await this.#access.refused(token, { status, wwwAuthenticate }, signal));
      if (renewed === true) continue;
      const why = renewed === false ? facts : { ...renewed, status };
      // By a 403 only this request is known to go too far.
      if (status === 401) this.#access.hold(token, why);
      throw new AttemptError(why);
    }
  }

  /** Nothing more is to be sent for now: the connections are closed. */
  letGo(): void {
    this.#kept.close();
  }

  /** The answer, whatever it is: nothing is made of it. @throws as `send` does. */
  async ask(request: HttpRequest): Promise<Response> {
    return this.#fetch(request, await this.#access.token(request.signal));
  }

  async #fetch(request: HttpRequest, token: string | undefined): Promise<Response> {
    const { method, body, signal } = request;
    const headers = new Headers();
    for (const [name, value] of [...Object.entries(this.#headers), ...Object.entries(request.headers)]) {
      if (value !== undefined) headers.set(name, value);
    }
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    let url = request.url ?? this.#url;
    for (let redirects = 0; ; redirects++) {
      const init = { method, headers, body: body ?? null, signal, redirect: 'manual' as const };
      let response: Response;
      try {
        response = await fetch(url, { ...init, ...ownDispatcher(this.#kept) });
      } catch (error) {
        signal.throwIfAborted();
        throw new AttemptError(brokenFacts(error, this.#scope));
      }
      if (response.status < 300 || response.status > 399) return response;
      url = this.#followed(response, url, redirects);
    }
  }

  /** Follows a redirect: within the origin, and with the request as it is. */
  #followed(response: Response, from: string, redirects: number): string {
    const { status } = response;
    const location = response.headers.get('location');
    dropBody(response);
    const url = location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined;
    const keepsMethod = status === 307 || status === 308;
    if (url?.origin === new URL(from).origin && keepsMethod && redirects < mostRedirects) return url.href;
    const where = url === undefined ? 'nowhere' : url.origin === new URL(from).origin ? 'on' : `away, to ${url.origin}`;
    const message = `HTTP ${status}: the redirect was not followed: it leads ${where}`;
    throw new AttemptError({ kind: 'permanent', message, outcome: 'failed', status });
  }
}

/** A response whose body has been read. */
function repeated({ status, headers }: Response, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': headers.get('content-type') ?? 'text/plain' } });
}

/** Tells whether the token is the reason of the refusal. */
function isRefusal({ status, headers }: Response): boolean {
  return status === 401 || (status === 403 && /insufficient_scope/i.test(headers.get('www-authenticate') ?? ''));
}
