import { clientModule } from '../../clientModule.ts';
import type { OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client';
import { findIssuer, isBearer } from './issuer.ts';
import type { Issuer, SignInRecord } from './signInRecord.ts';
import type { TokenRequest } from './tokenRequest.ts';
import type { Renewal, RenewedTokens } from './tokenKeeper.ts';

/** Renews what a person has signed in to. */
export const byRefreshToken: Renewal = {
  can: ({ issuer, tokens }) => issuer !== undefined && tokens?.refresh !== undefined,
  async renew({ issuer, tokens }, request) {
    // As `can` says, they are there.
    if (issuer === undefined || tokens?.refresh === undefined) throw new TypeError('Nothing to renew');
    const { refreshAuthorization } = await clientModule();
    const { authorizationServer, metadata, client: clientInformation, resource } = issuer;
    const answer = await refreshAuthorization(authorizationServer, {
      metadata,
      clientInformation,
      refreshToken: tokens.refresh,
      resource,
      fetchFn: request.fetch,
    });
    return renewedOf(issuer, answer, tokens.scope);
  },
};

/** A program that has an account of its own. */
interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

/** Gets tokens with the credentials of a program; nobody signs in. */
export function byClientCredentials({ clientId, clientSecret, scope }: ClientCredentials): Renewal {
  const client = { client_id: clientId, client_secret: clientSecret };
  return {
    can: () => true,
    async renew(record, request) {
      const { issuer } = await findIssuer(record.server, client, request);
      const wanted = { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) };
      const answer = await tokensBy(issuer, wanted, request);
      // The secret stays where it came from.
      return renewedOf({ ...issuer, client: { client_id: clientId } }, answer, scope);
    },
  };
}

/** Asks for tokens by a grant that the SDK does not know. */
export async function tokensBy(
  { authorizationServer, metadata, client, resource }: Issuer,
  grant: Record<string, string>,
  request: TokenRequest,
): Promise<OAuthTokens> {
  const { fetchToken } = await clientModule();
  const provider: Pick<OAuthClientProvider, 'clientMetadata' | 'clientInformation' | 'prepareTokenRequest'> = {
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ ...client, issuer: metadata.issuer }),
    prepareTokenRequest: () => new URLSearchParams(grant),
  };
  return fetchToken(provider as OAuthClientProvider, authorizationServer, {
    metadata,
    resource,
    fetchFn: request.fetch,
  });
}

/** @throws Error when it is a token of another kind. */
export function renewedOf(issuer: SignInRecord['issuer'], answer: OAuthTokens, scope?: string): RenewedTokens {
  if (!isBearer(answer)) throw new Error('The token is no bearer token');
  return {
    issuer,
    access: answer.access_token,
    refresh: answer.refresh_token,
    scope: answer.scope ?? scope,
    expiresIn: answer.expires_in,
  };
}
