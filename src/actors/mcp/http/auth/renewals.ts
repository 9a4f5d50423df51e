import { clientModule } from '../../clientModule.ts';
import type { OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client';
import { findIssuer, isBearer } from './issuer.ts';
import type { SignInRecord } from './signInRecord.ts';
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
      const { fetchToken } = await clientModule();
      const { issuer } = await findIssuer(record.server, client, request);
      const provider: Pick<OAuthClientProvider, 'clientMetadata' | 'clientInformation' | 'prepareTokenRequest'> = {
        clientMetadata: { redirect_uris: [] },
        clientInformation: () => ({ ...client, issuer: issuer.metadata.issuer }),
        prepareTokenRequest: (asked) => {
          const params = new URLSearchParams({ grant_type: 'client_credentials' });
          if (asked !== undefined) params.set('scope', asked);
          return params;
        },
      };
      const { authorizationServer, metadata, resource } = issuer;
      const answer = await fetchToken(provider as OAuthClientProvider, authorizationServer, {
        metadata,
        resource,
        ...(scope !== undefined && { scope }),
        fetchFn: request.fetch,
      });
      // The secret stays where it came from.
      return renewedOf({ ...issuer, client: { client_id: clientId } }, answer, scope);
    },
  };
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
