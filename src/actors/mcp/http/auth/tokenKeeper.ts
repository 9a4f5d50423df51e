import type { Clock } from '../../../../policy/clock.ts';
import { formatDuration } from '../../../../policy/text/duration.ts';
import { AttemptError, type FailureFacts } from '../../../../policy/failures/failure.ts';
import type { RemoteAuth, TokenRefusal } from '../access.ts';
import { lockBusy } from './fileLock.ts';
import type { SignInFile } from './signInFile.ts';
import type { KeptTokens, SignInRecord, TokenReason } from './signInRecord.ts';
import { nextRequestAt, refusalsWith, withFailure, withRequest } from './tokenAllowance.ts';
import { TokenRequest, tokenRequestMs } from './tokenRequest.ts';

/** Tokens that a renewal gives. */
export interface RenewedTokens {
  readonly issuer: SignInRecord['issuer'];
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly scope?: string | undefined;
  /** In seconds, as the other side said. */
  readonly expiresIn?: number | undefined;
}

/** Way to get tokens without anybody being asked. */
export interface Renewal {
  /** Tells whether this record has all it takes. */
  can(record: SignInRecord): boolean;
  /** Rejects when there are none. */
  renew(record: SignInRecord, request: TokenRequest): Promise<RenewedTokens>;
}

interface TokenKeeperOptions {
  readonly clock: Clock;
  readonly file: SignInFile;
  readonly renewal: Renewal;
  /** Advice where there is nothing to renew: as in "sign in with …". */
  readonly advice: string;
  /** Has people sign in on another device, and says how, in place of the advice. @defaultValue nobody is asked */
  readonly prompt?: { advice(): Promise<string> } | undefined;
  /** True where it is a command that people sign in with. */
  readonly asksPeople: boolean;
  /** Sends no token where there is none, in place of failing. */
  readonly isOptional: boolean;
  /** Told each token, so that it can be kept out of what is told. */
  readonly learn?: ((token: string) => void) | undefined;
}

/** A token is renewed so long before its end, or a tenth of its life where that is less. */
const earlyMs = 60_000;
/** Time for one process to ask; the others wait for it. */
const lockMs = 2 * tokenRequestMs;

type Renewed = 'renewed' | 'cannot' | { readonly facts: FailureFacts };

/**
 * The tokens of one server, from a file that processes share. At most one request for a token is under way at a time, whoever needs it, and
 * the allowance holds for all of them. A request that has begun is let end: to break it off could lose the only copy of a new token.
 */
export class TokenKeeper implements RemoteAuth {
  readonly #options: TokenKeeperOptions;
  #renewing: Promise<Renewed> | undefined;
  /** Requests for tokens that were made. */
  requests = 0;

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
  }

  async token(signal: AbortSignal): Promise<string | undefined> {
    const { clock, file, renewal, isOptional } = this.#options;
    const record = file.read();
    const { tokens } = record;
    if (tokens === undefined && !renewal.can(record)) {
      if (isOptional) return undefined;
      throw new AttemptError(await orAborted(this.#notSignedIn('Not signed in'), signal));
    }
    const now = clock.wallNow();
    if (tokens !== undefined && now < dueAt(tokens)) return this.#told(tokens);
    // Until its end the old one serves, and nobody waits for the new one.
    const isGood = tokens !== undefined && now < (tokens.expiresAt ?? Number.POSITIVE_INFINITY);
    if (isGood && nextRequestAt(record, 'expiry', now) > now) return this.#told(tokens);
    const renewing = this.#renew(tokens?.access, 'expiry');
    if (isGood) return this.#told(tokens);
    const renewed = await orAborted(renewing, signal);
    if (renewed === 'renewed') return this.#told(file.read().tokens);
    if (renewed !== 'cannot') throw new AttemptError(renewed.facts);
    throw new AttemptError(await orAborted(this.#notSignedIn('The sign-in has expired'), signal));
  }

  async refused(
    token: string | undefined,
    { status, wwwAuthenticate }: TokenRefusal,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { file } = this.#options;
    const { tokens } = file.read();
    if (status !== 401) throw new AttemptError({ ...this.#lacksScope(wwwAuthenticate), status });
    if (tokens === undefined) throw new AttemptError({ ...(await this.#neverSignedIn()), status });
    if (tokens.access !== token) return true;
    const renewed = await orAborted(this.#renew(token, 'refusal'), signal);
    if (renewed === 'renewed') return true;
    throw new AttemptError(
      renewed === 'cannot' ? { ...(await this.#notSignedIn('The server refused the token')), status } : renewed.facts,
    );
  }

  #told(tokens: KeptTokens | undefined): string | undefined {
    if (tokens === undefined) return undefined;
    this.#options.learn?.(tokens.access);
    if (tokens.refresh !== undefined) this.#options.learn?.(tokens.refresh);
    return tokens.access;
  }

  /** Whoever needs a token while one is asked for waits for that one. Never rejects. */
  #renew(old: string | undefined, because: TokenReason): Promise<Renewed> {
    this.#renewing ??= this.#renewAlone(old, because)
      .catch((error: unknown): Renewed => ({ facts: unusable(error) }))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #renewAlone(old: string | undefined, because: TokenReason): Promise<Renewed> {
    const { file } = this.#options;
    const renewed = await file.locked(lockMs, () => this.#renewLocked(old, because));
    if (renewed !== lockBusy) return renewed;
    // It may have been waiting for what another process did.
    if (file.read().tokens?.access !== old) return 'renewed';
    const message = `Another process has kept the sign-in locked for ${formatDuration(lockMs)}`;
    return { facts: { kind: 'timeout', message, outcome: 'not_started' } };
  }

  async #renewLocked(old: string | undefined, because: TokenReason): Promise<Renewed> {
    const { clock, file, renewal } = this.#options;
    const found = file.read();
    if (found.tokens?.access !== old) return 'renewed';
    if (!renewal.can(found)) return 'cannot';
    const now = clock.wallNow();
    const at = nextRequestAt(found, because, now);
    if (at > now) return { facts: heldBack(found, because, at - now) };
    const record = withRequest(found, now);
    file.write(record);
    const request = new TokenRequest(clock, file.server);
    this.requests += 1;
    try {
      const { issuer, access, refresh, scope, expiresIn } = await renewal.renew(record, request);
      const obtainedAt = clock.wallNow();
      const expiresAt = expiresIn === undefined ? undefined : obtainedAt + expiresIn * 1000;
      const refusals = refusalsWith(record, because, obtainedAt);
      const tokens = { access, refresh, scope, obtainedAt, expiresAt };
      file.write({ ...record, issuer, tokens, refusals, failed: 0, notBefore: undefined });
      this.#told(tokens);
      return 'renewed';
    } catch (error) {
      return this.#failed(record, request, error);
    } finally {
      request.end();
    }
  }

  /** The sign-in is given up only where the authorization server says that it has ended, and only the one that it was asked for. */
  #failed(record: SignInRecord, request: TokenRequest, error: unknown): Renewed {
    const { clock, file } = this.#options;
    const current = file.read();
    if (current.tokens?.access !== record.tokens?.access) return 'renewed';
    const refusal = request.refusal(error);
    if (refusal === 'invalid_grant' && current.tokens !== undefined) {
      file.write({ ...record, tokens: { ...current.tokens, refresh: undefined } });
      return 'cannot';
    }
    const failure = request.failure(error);
    file.write(withFailure(record, clock.wallNow(), failure.retryAfterMs));
    if (refusal === undefined) return { facts: failure };
    const message = `The authorization server refused a new token (${refusal.slice(0, 50)}): ${this.#options.advice}`;
    return { facts: { kind: 'auth', message, outcome: 'not_started' } };
  }

  async #notSignedIn(what: string): Promise<FailureFacts> {
    const { prompt, advice } = this.#options;
    return { kind: 'auth', message: `${what}: ${(await prompt?.advice()) ?? advice}`, outcome: 'not_started' };
  }

  /** Names another way: a token of unknown origin may as well be one that people have. */
  async #neverSignedIn(): Promise<FailureFacts> {
    const facts = await this.#notSignedIn('Not signed in');
    const others = '; or give a token by --header-env or --header-file, in a file of servers by `headers`';
    return this.#options.isOptional ? { ...facts, message: facts.message + others } : facts;
  }

  #lacksScope(wwwAuthenticate = ''): FailureFacts {
    // A scope may hold only characters that no shell sees as more than a word within quotation marks.
    const scope = /\bscope="([A-Za-z0-9:/._+ -]{1,200})"/.exec(wwwAuthenticate)?.[1];
    const what = scope === undefined ? '' : `, which takes the scope "${scope}"`;
    const how = scope === undefined || !this.#options.asksPeople ? '' : ` --scope "${scope}"`;
    return {
      kind: 'auth',
      message: `The sign-in does not allow this${what}: ${this.#options.advice}${how}`,
      outcome: 'failed',
    };
  }
}

function dueAt({ obtainedAt, expiresAt }: KeptTokens): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(earlyMs, Math.max(0, expiresAt - obtainedAt) / 10);
}

function heldBack({ failed }: SignInRecord, because: TokenReason, waitMs: number): FailureFacts {
  const next = `no other is asked for within ${formatDuration(waitMs)}`;
  if (failed > 0) {
    const message = `The authorization server gave no token ${failed === 1 ? 'when last asked' : `${failed} times`}; ${next}`;
    return { kind: 'transient', message, outcome: 'not_started', retryAfterMs: waitMs };
  }
  const what = because === 'refusal' ? 'The server refuses new tokens too' : 'Too many tokens were asked for';
  return { kind: 'auth', message: `${what}; ${next}`, outcome: 'not_started' };
}

function unusable(error: unknown): FailureFacts {
  const message = `The sign-in cannot be kept: ${error instanceof Error ? error.message : 'unknown error'}`;
  return { kind: 'permanent', message, outcome: 'not_started', cause: error };
}

/** The caller may stop waiting; what it waited for goes on. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
