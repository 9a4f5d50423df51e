import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';

/** Why a token was asked for. */
export type TokenReason = 'expiry' | 'refusal';

/** Tokens as they are kept; times are ms since the epoch. */
export interface KeptTokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly scope?: string | undefined;
  readonly obtainedAt: number;
  readonly expiresAt?: number | undefined;
}

/** New tokens in place of refused ones: when the last was got, and how many in a row. */
export interface RefusedTokens {
  readonly at: number;
  readonly count: number;
}

/** Issuer of tokens for a server, and our registration there. Nothing of it is ever used with another issuer. */
export interface Issuer {
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly client: OAuthClientInformationMixed;
  /** As the server calls itself. */
  readonly resource: string;
}

/** Record that is kept of a sign-in. */
export interface SignInRecord {
  readonly version: 1;
  /** The address of the MCP server. */
  readonly server: string;
  readonly issuer?: Issuer | undefined;
  readonly tokens?: KeptTokens | undefined;
  readonly refusals?: RefusedTokens | undefined;
  /** Times at which tokens were last asked for, in vain or not. */
  readonly requests: readonly number[];
  /** Requests in a row that failed for no fault of ours. */
  readonly failed: number;
  /** Time of the earliest next request. */
  readonly notBefore?: number | undefined;
}

export function emptyRecord(server: string): SignInRecord {
  return { version: 1, server, requests: [], failed: 0 };
}

/** A record as it was written; undefined for anything else. */
export function readRecord(text: string, server: string): SignInRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<SignInRecord> | null;
    const isOurs = value?.version === 1 && value.server === server && Array.isArray(value.requests);
    return isOurs ? (value as SignInRecord) : undefined;
  } catch {
    return undefined;
  }
}
