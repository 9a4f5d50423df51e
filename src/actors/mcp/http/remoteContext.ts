import type { Clock, Random } from '../../../policy/clock.ts';
import { AttemptError } from '../../../policy/failures/failure.ts';
import type { McpParams, McpRequest } from '../../../protocol/mcp/message.ts';
import { withId } from '../../../protocol/mcp/jsonSpans.ts';
import { KeptConnections } from '../../../streams/keptConnections.ts';
import { headerList, sendRequest } from '../../../streams/sendRequest.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import { valueHider } from '../../process/valueHider.ts';
import { Access } from './access.ts';
import { brokenFacts, type FailureScope, refusalText, statusFacts } from './httpFailure.ts';
import { remoteSecrets, type TargetSettings } from './remoteOptions.ts';
import { namesSession } from './sessionDoubt.ts';

/** Tokens, ids of sessions among them, that are kept out of messages; of more the oldest are forgotten. */
const mostTokens = 10;

/** A handshake that was made to find out whether a session is gone, and the session that began with it. */
interface KeptGreeting {
  readonly params: McpParams;
  /** The server's answer. */
  readonly text: string;
  readonly session: string | undefined;
}

/** Time in ms that a session that began so is taken for one that is still there. */
const keptMs = 30_000;
/** Between two sessions in a row that are given up before they were of use, in ms: doubled each time. */
const firstRenewalMs = 2000;
const longestRenewalMs = 60_000;

/** Knowledge that the incarnations of one remote server share: what is known of it, and what it is shown. */
export class RemoteContext {
  readonly settings: TargetSettings;
  readonly access: Access;
  readonly requester: Requester;
  readonly random: Random;
  /** The transport that it turned out to speak, where it was to be found out. */
  transport: 'http' | 'sse' | undefined;
  /** Era that it was of when it was last connected to. */
  era: 'legacy' | 'modern' | undefined = undefined;
  readonly #secrets: Record<string, string>;
  #hider: (text: string) => string;
  readonly #tokens: string[] = [];
  readonly #clock: Clock;
  #renewalMs = 0;
  #renewableAt = Number.NEGATIVE_INFINITY;
  #greeting: (KeptGreeting & { readonly at: number }) | undefined = undefined;

  /** @param learn - told of each new token, as the header that it goes in. */
  constructor(
    settings: TargetSettings,
    { clock, random }: { readonly clock: Clock; readonly random: Random },
    learn: (headers: Readonly<Record<string, string>>) => void,
  ) {
    this.settings = settings;
    this.#clock = clock;
    this.random = random;
    this.transport = settings.transport === 'auto' ? undefined : settings.transport;
    this.#secrets = remoteSecrets(settings);
    this.#hider = valueHider(this.#secrets);
    this.access = new Access(settings.auth, clock, (token) => {
      this.keepOut(token);
      learn({ authorization: `Bearer ${token}` });
    });
    this.requester = new Requester(settings, this.access, { clock, hide: (text) => this.hide(text) });
  }

  /** Keeps what lets somebody in out of messages: a server may say it back. */
  keepOut(token: string): void {
    this.#tokens.push(token);
    if (this.#tokens.length > mostTokens) this.#tokens.shift();
    const tokens = Object.fromEntries(this.#tokens.map((each, index) => [`token ${index + 1}`, each]));
    this.#hider = valueHider({ ...this.#secrets, ...tokens });
  }

  /** True where a session that was of no use yet may be given up for another: a server that loses each at once is not asked for one all the time. */
  get mayRenew(): boolean {
    return this.#clock.now() >= this.#renewableAt;
  }

  /**
   * A session is given up.
   * @param hasWorked - something was done in it.
   * @returns whether that was to be expected: servers forget sessions, but not one after the other before they are of use.
   */
  renews(hasWorked: boolean): boolean {
    const isExpected = hasWorked || this.#renewalMs === 0;
    this.#renewalMs = hasWorked ? 0 : Math.min(longestRenewalMs, Math.max(firstRenewalMs, 2 * this.#renewalMs));
    this.#renewableAt = this.#clock.now() + this.#renewalMs;
    return isExpected;
  }

  /** The next link begins with this handshake, so that one loss makes one session. */
  keepGreeting(greeting: KeptGreeting): void {
    this.#greeting = { ...greeting, at: this.#clock.now() };
    if (greeting.session !== undefined) this.keepOut(greeting.session);
  }

  /** The answer to this handshake, where it has been made already; once. */
  takeGreeting({ id, params }: McpRequest): Response | undefined {
    const kept = this.#greeting;
    this.#greeting = undefined;
    if (kept === undefined || this.#clock.now() > kept.at + keptMs) return undefined;
    if (JSON.stringify(kept.params) !== JSON.stringify(params)) return undefined;
    const session = kept.session === undefined ? {} : { 'mcp-session-id': kept.session };
    return new Response(withId(kept.text, id), { headers: { 'content-type': 'application/json', ...session } });
  }

  hide(text: string): string {
    return this.#hider(text);
  }
}

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

const mostRedirects = 5;

/** Sends requests to one server: with its headers and its token, never to anybody else. */
class Requester {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #access: Access;
  readonly #scope: FailureScope;
  readonly #kept = new KeptConnections();
  /** Headers that were sent last: mostly the next ones are the same. */
  #last: { own: HttpRequest['headers']; token: string | undefined; list: readonly string[] } | undefined = undefined;

  constructor(
    { url, headers = {} }: { url: string; headers?: Readonly<Record<string, string | undefined>> | undefined },
    access: Access,
    scope: FailureScope,
  ) {
    this.#url = new URL(url);
    // Joined and trimmed as `fetch` does, by their names in small letters.
    this.#headers = Object.fromEntries(
      new Headers(Object.entries(headers).filter((each): each is [string, string] => each[1] !== undefined)),
    );
    this.#access = access;
    this.#scope = scope;
  }

  /**
   * The answer with its headers, whatever its status but a 401 that is meant for the token; its body is unread.
   * @throws {@link AttemptError} that says what is known; what the signal was aborted with.
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    for (let isAgain = false; ; isAgain = true) {
      const token = this.#access.renews ? await this.#access.token(signal) : undefined;
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
  async ask(request: HttpRequest): Promise<HttpAnswer> {
    return this.#fetch(request, await this.#access.token(request.signal));
  }

  async #fetch(request: HttpRequest, token: string | undefined): Promise<HttpAnswer> {
    const { method, body, signal } = request;
    const headers = this.#headersOf(request.headers, token);
    let url = request.url === undefined ? this.#url : new URL(request.url);
    for (let redirects = 0; ; redirects++) {
      let response: HttpAnswer;
      try {
        response = await sendRequest({ method, url, headers, body, signal }, this.#kept);
      } catch (error) {
        signal.throwIfAborted();
        throw new AttemptError(brokenFacts(error, this.#scope));
      }
      if (response.status < 300 || response.status > 399) return response;
      url = this.#followed(response, url, redirects);
    }
  }

  #headersOf(own: HttpRequest['headers'], token: string | undefined): readonly string[] {
    if (this.#last?.own === own && this.#last.token === token) return this.#last.list;
    const shown = token === undefined ? {} : { authorization: `Bearer ${token}`.trim() };
    this.#last = { own, token, list: headerList(this.#url, this.#headers, own, shown) };
    return this.#last.list;
  }

  /** Follows a redirect: within the origin, and with the request as it is. */
  #followed(response: HttpAnswer, from: URL, redirects: number): URL {
    const { status } = response;
    const location = response.headers.get('location');
    dropBody(response);
    const url = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    const keepsMethod = status === 307 || status === 308;
    if (url?.origin === from.origin && keepsMethod && redirects < mostRedirects) return url;
    const where = url === undefined ? 'nowhere' : url.origin === from.origin ? 'on' : `away, to ${url.origin}`;
    const message = `HTTP ${status}: the redirect was not followed: it leads ${where}`;
    throw new AttemptError({ kind: 'permanent', message, outcome: 'failed', status });
  }
}

/** A response whose body has been read. */
function repeated({ status, headers }: HttpAnswer, text: string): HttpAnswer {
  return new Response(text, { status, headers: { 'content-type': headers.get('content-type') ?? 'text/plain' } });
}

function isRefusal({ status, headers }: HttpAnswer): boolean {
  return status === 401 || (status === 403 && /insufficient_scope/i.test(headers.get('www-authenticate') ?? ''));
}
