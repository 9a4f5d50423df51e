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
