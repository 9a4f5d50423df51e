import { inTime } from '../../../policy/inTime.ts';
import type { Clock } from '../../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../../policy/failures/failure.ts';
import { messageOf } from '../../../policy/failures/thrown.ts';

/** Time in ms that the source of tokens may take over a refused one. */
const renewalMs = 30_000;
/** Time in ms that a server is left alone that has refused all there is to show: doubled each time. */
const firstPauseMs = 5000;
const longestPauseMs = 300_000;

interface Held {
  readonly token: string | undefined;
  readonly facts: FailureFacts;
  readonly until: number;
}

/** The access to one server, for all its incarnations: the token, and what becomes of one that is refused. */
export class Access {
  readonly #auth: RemoteAuth | undefined;
  readonly #clock: Clock;
  readonly #learn: (token: string) => void;
  #known: string | undefined = undefined;
  /** For the token that was refused last: whether there is another one now. */
  #renewal: { readonly token: string | undefined; readonly done: Promise<boolean | FailureFacts> } | undefined =
    undefined;
  #held: Held | undefined = undefined;
  #pauseMs = 0;
  /** Requests in a row that were refused in spite of all there was to show; nothing was taken yet. */
  #refusals = 1;

  /** @param learn - told of each new token: it is a secret. */
  constructor(auth: RemoteAuth | undefined, clock: Clock, learn: (token: string) => void) {
    this.#auth = auth;
    this.#clock = clock;
    this.#learn = learn;
  }

  /**
   * The token to send.
   * @throws {@link AttemptError} of kind `auth` when there is none, or when it is known that the server refuses it.
   */
  async token(signal: AbortSignal): Promise<string | undefined> {
    if (this.#auth === undefined) return undefined;
    const token = await this.#ask(this.#auth, signal);
    // A request that waits for a token may have been given up meanwhile: nothing is sent then.
    signal.throwIfAborted();
    this.#refuseHeld(token);
    return token;
  }

  /** True where a token that is refused may be renewed. */
  get renews(): boolean {
    return this.#auth !== undefined;
  }

  /** Before a handshake. @throws {@link AttemptError} of kind `auth` while the server is to be left alone. */
  checkHeld(): void {
    if (this.#auth === undefined) this.#refuseHeld(undefined);
  }

  accepted(token: string | undefined): void {
    if (this.#held?.token === token) this.#held = undefined;
    this.#pauseMs = 0;
    this.#refusals = 0;
  }

  /** The server refused it. @returns whether the request may be sent again, as there is another token; or why there is none, where that is known. */
  async refused(
    token: string | undefined,
    refusal: TokenRefusal,
    signal: AbortSignal,
  ): Promise<boolean | FailureFacts> {
    if (this.#auth === undefined) return false;
    if ((await this.#ask(this.#auth, signal)) !== token) return true;
    if (this.#renewal === undefined || this.#renewal.token !== token) {
      this.#renewal = { token, done: this.#renew(this.#auth, token, refusal) };
    }
    return this.#renewal.done;
  }

  /** A request was refused for good. Where that is more than one tool that wants more than it is shown, the server is left alone. */
  hold(token: string | undefined, facts: FailureFacts): void {
    if (this.#refusals++ === 0) return;
    this.#pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, this.#pauseMs * 2));
    this.#held = { token, facts, until: this.#clock.now() + this.#pauseMs };
  }

  #refuseHeld(token: string | undefined): void {
    const held = this.#held;
    if (held === undefined || held.token !== token) return;
    const leftMs = held.until - this.#clock.now();
    if (leftMs > 0) throw new AttemptError({ ...held.facts, outcome: 'not_started', retryAfterMs: leftMs });
    // A single request finds out; its fellows wait for the result no longer than a pause.
    this.#held = { ...held, until: this.#clock.now() + firstPauseMs };
    this.#renewal = undefined;
  }

  /** Renews once for all who were refused it, whoever of them is given up meanwhile. Never rejects. */
  async #renew(auth: RemoteAuth, token: string | undefined, refusal: TokenRefusal): Promise<boolean | FailureFacts> {
    const own = new AbortController();
    try {
      const asked = Promise.resolve(auth.refused?.(token, refusal, own.signal) ?? false);
      const renewed = await inTime(asked, { clock: this.#clock, limitMs: renewalMs });
      return renewed === true && (await this.#ask(auth, own.signal)) !== token;
    } catch (error) {
      return error instanceof AttemptError && error.facts;
    } finally {
      own.abort();
    }
  }

  async #ask(auth: RemoteAuth, signal: AbortSignal): Promise<string | undefined> {
    let token: string | undefined;
    try {
      token = await auth.token(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AttemptError) throw error;
      const message = `There is no token for the server: ${messageOf(error)}`;
      throw new AttemptError({ kind: 'auth', message, outcome: 'not_started', cause: error });
    }
    if (token !== undefined && token !== this.#known) {
      this.#known = token;
      this.#learn(token);
    }
    return token;
  }
}

/** Words of a server that refused a token. */
export interface TokenRefusal {
  /** 401, or 403 where the token does not go far enough. */
  readonly status: number;
  /** Its header `www-authenticate`. */
  readonly wwwAuthenticate?: string | undefined;
}

/** Source of the tokens for a remote server. Each goes as `authorization: Bearer …` and is kept out of all that is told. */
export interface RemoteAuth {
  /** The token of the moment, asked for before each request; undefined to send none. */
  token(signal: AbortSignal): string | undefined | Promise<string | undefined>;
  /**
   * The server refused this token, or a request without one. Asked once for each token, however many requests it was refused for, and given
   * 30 s. An `AttemptError` that it rejects with says why there is no other.
   * @returns whether `token()` gives another one now; the refused requests are then sent again, once.
   */
  refused?(token: string | undefined, refusal: TokenRefusal, signal: AbortSignal): boolean | Promise<boolean>;
}
