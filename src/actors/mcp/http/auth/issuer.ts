import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client';
import type { Issuer } from './signInRecord.ts';
import { refused, type TokenRequest } from './tokenRequest.ts';

/** Issuer of tokens for a server, and what is asked for. */
interface FoundIssuer {
  readonly issuer: Issuer;
  /** Scope that the server wants of a token, by its challenge or its metadata. */
  readonly scope?: string | undefined;
}

/**
 * Finds out who gives tokens for a server: by the server's challenge, else at the well-known places.
 * @throws AttemptError where that is not said, or said in a way that is not to be trusted.
 */
export async function findIssuer(
  server: string,
  client: OAuthClientInformationMixed,
  request: TokenRequest,
): Promise<FoundIssuer> {
  const { discoverOAuthServerInfo, checkResourceAllowed, extractWWWAuthenticateParams } = await import(
    '@modelcontextprotocol/client'
  );
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(await challenge(server, request));
  const found = await discoverOAuthServerInfo(server, {
    fetchFn: request.fetch,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  });
  const {
    authorizationServerUrl: authorizationServer,
    authorizationServerMetadata: metadata,
    resourceMetadata,
  } = found;
  if (metadata === undefined) throw refused(`${shown(authorizationServer)} is no authorization server`);
  const resource = resourceMetadata?.resource ?? server;
  if (!checkResourceAllowed({ requestedResource: server, configuredResource: resource })) {
    throw refused(`The server calls itself ${shown(resource)}, which is not where it is`);
  }
  const wanted = scope ?? resourceMetadata?.scopes_supported?.join(' ');
  return { issuer: { authorizationServer, metadata, client, resource }, scope: wanted || undefined };
}

/** Returns the server's response to a request without a token. */
function challenge(server: string, request: TokenRequest): Promise<Response> {
  return request.fetch(server, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'sign-in', method: 'ping' }),
  });
}

export function isBearer({ token_type: type }: OAuthTokens): boolean {
  return type.toLowerCase() === 'bearer';
}

function shown(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'it';
}
