import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import type { Clock } from '../../../../policy/clock.ts';
import { clientModule } from '../../clientModule.ts';
import { lockBusy } from './fileLock.ts';
import type { SignInFile } from './signInFile.ts';
import { emptyRecord } from './signInRecord.ts';
import type { RenewedTokens } from './tokenKeeper.ts';
import { refused, TokenRequest, tokenRequestMs } from './tokenRequest.ts';

/** End of a sign-in. */
export type SignInEnd =
  | { readonly ok: true; readonly issuer: string; readonly expiresAt?: number | undefined; readonly renews: boolean }
  | { readonly ok: false; readonly message: string };

/** Takes the place of what was kept of the server: another issuer, or another person, has nothing in common with it. */
export async function keepTokens(
  { clock, file }: { readonly clock: Clock; readonly file: SignInFile },
  tokens: RenewedTokens,
): Promise<SignInEnd> {
  const { issuer, access, refresh, scope, expiresIn } = tokens;
  const obtainedAt = clock.wallNow();
  const expiresAt = expiresIn === undefined ? undefined : obtainedAt + expiresIn * 1000;
  const kept = await file.locked(2 * tokenRequestMs, () => {
    file.write({
      ...emptyRecord(file.server),
      issuer,
      tokens: { access, refresh, scope, obtainedAt, expiresAt },
    });
    return Promise.resolve();
  });
  if (kept === lockBusy) throw refused('Another process keeps the file of the sign-in locked');
  return { ok: true, issuer: issuer?.metadata.issuer ?? '', expiresAt, renews: refresh !== undefined };
}

/** Puts one limit on all requests of the work. Text of the authorization server is not repeated. */
export async function conversation<T>(
  { clock, file }: { readonly clock: Clock; readonly file: SignInFile },
  work: (talk: TokenRequest) => Promise<T>,
): Promise<T> {
  const talk = new TokenRequest(clock, file.server);
  try {
    return await work(talk);
  } catch (error) {
    const refusal = talk.refusal(error);
    throw refused(
      refusal === undefined ? talk.failure(error).message : `The authorization server refused: ${refusal.slice(0, 50)}`,
    );
  } finally {
    talk.end();
  }
}

/** Registers a client for one sign-in. @param grant - what it is allowed, beside the renewal of its tokens. */
export async function register(
  metadata: AuthorizationServerMetadata,
  { grant, redirectUrl }: { readonly grant: string; readonly redirectUrl?: string },
  scope: string | undefined,
  talk: TokenRequest,
): Promise<OAuthClientInformationMixed> {
  if (metadata.registration_endpoint === undefined) {
    throw refused('The authorization server registers no clients: give the ID of one that it knows');
  }
  const { registerClient } = await clientModule();
  return registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: 'unwedge',
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      grant_types: [grant, 'refresh_token'],
      response_types: redirectUrl === undefined ? [] : ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    ...(scope !== undefined && { scope }),
    fetchFn: talk.fetch,
  });
}

/** Without it many give no refresh token, and the sign-in ends within the hour. */
export function withOfflineAccess(
  scope: string | undefined,
  metadata: AuthorizationServerMetadata,
): string | undefined {
  const offers = metadata.scopes_supported?.includes('offline_access') === true;
  if (!offers || scope === undefined || scope.split(' ').includes('offline_access')) return scope;
  return `${scope} offline_access`;
}
