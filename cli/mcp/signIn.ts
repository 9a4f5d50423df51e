import { clientModule } from '../../src/actors/mcp/face.ts';
import { randomBytes } from 'node:crypto';
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import type { Clock } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import {
  type SignInEnd,
  type SignInFile,
  conversation,
  findIssuer,
  keepTokens,
  refused,
  register,
  renewedOf,
  withOfflineAccess,
} from '../../src/actors/mcp/http/auth/face.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { noTrace, startHttpServer } from '../../web/server/httpServer.ts';

/** A sign-in of a person, in a browser. */
export interface SignInRequest {
  readonly file: SignInFile;
  readonly clock: Clock;
  /** Identity of a client that was registered beforehand; otherwise one is registered now. */
  readonly client?: OAuthClientInformationMixed | undefined;
  /** @defaultValue what the server asks for */
  readonly scope?: string | undefined;
  /** Port that the browser comes back to. @defaultValue any free port */
  readonly callbackPort?: number | undefined;
  /** Time in ms that the browser is waited for. */
  readonly waitMs: number;
  /** Shows the address that is to be opened. */
  readonly show: (address: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Has a person sign in, and keeps the tokens. Never rejects. */
export async function signIn(request: SignInRequest): Promise<SignInEnd> {
  const state = randomBytes(32).toString('base64url');
  let listener: CallbackListener;
  try {
    listener = await listenForCallback(request.clock, request.callbackPort ?? 0, state);
  } catch (error) {
    return { ok: false, message: `The browser cannot come back to this machine: ${messageOf(error)}` };
  }
  try {
    return await signInWith(request, listener, state);
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  } finally {
    await listener.close();
  }
}

async function signInWith(request: SignInRequest, listener: CallbackListener, state: string): Promise<SignInEnd> {
  const { file } = request;
  const { startAuthorization, exchangeAuthorization } = await clientModule();
  const { redirectUrl } = listener;
  const { issuer, scope } = await conversation(request, async (talk) => {
    const found = await findIssuer(file.server, { client_id: '' }, talk);
    insistOnPkce(found.issuer.metadata);
    const wanted = withOfflineAccess(request.scope ?? found.scope, found.issuer.metadata);
    const client =
      request.client ??
      (await register(found.issuer.metadata, { grant: 'authorization_code', redirectUrl }, wanted, talk));
    return { issuer: { ...found.issuer, client }, scope: wanted };
  });
  const { authorizationServer, metadata, client: clientInformation, resource } = issuer;
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
    metadata,
    clientInformation,
    redirectUrl,
    state,
    resource,
    ...(scope !== undefined && { scope }),
  });
  if (!/^https?:$/.test(authorizationUrl.protocol)) throw refused('The address to sign in at is none for a browser');
  const { code, iss, error } = await comeBack(request, listener, authorizationUrl);
  if (error !== undefined)
    throw refused(`The sign-in was refused: ${error.replaceAll(/[^\w. -]/g, ' ').slice(0, 100)}`);
  if (code === undefined) throw refused('The browser came back without a code');
  const tokens = await conversation(request, (talk) =>
    exchangeAuthorization(authorizationServer, {
      metadata,
      clientInformation,
      authorizationCode: code,
      codeVerifier,
      redirectUri: redirectUrl,
      resource,
      ...(iss !== undefined && { iss }),
      fetchFn: talk.fetch,
    }),
  );
  return keepTokens(request, renewedOf(issuer, tokens, scope));
}

/** A server that does not say that it checks the challenge may be one that does not. */
function insistOnPkce({ code_challenge_methods_supported: methods }: AuthorizationServerMetadata): void {
  if (methods?.includes('S256') !== true) {
    throw refused('The authorization server does not offer PKCE with S256, without which a sign-in could be stolen');
  }
}

function comeBack(
  { clock, waitMs, signal, show }: SignInRequest,
  { callback }: CallbackListener,
  { href }: URL,
): Promise<Callback> {
  return new Promise((resolve, reject) => {
    const end = (message: string) => (): void => reject(refused(message));
    const timer = clock.setTimeout(end(`Nobody signed in within ${formatDuration(waitMs)}`), waitMs, { ref: true });
    const stop = end('The sign-in was stopped');
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    void callback.then((came) => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve(came);
    });
    show(href);
  });
}

/** Values that the browser brought back. */
interface Callback {
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  /** The name of the error, where there was one. */
  readonly error?: string | undefined;
}

/** Waits on a port of this machine for the browser to come back from a sign-in. */
interface CallbackListener {
  readonly redirectUrl: string;
  /** Resolves with the first that carries our state; others are turned away. */
  readonly callback: Promise<Callback>;
  close(): Promise<void>;
}

const path = '/callback';
const lastAnswerMs = 500;

/** @param port - 0 for any. @throws when the port cannot be had. */
export async function listenForCallback(clock: Clock, port: number, state: string): Promise<CallbackListener> {
  let settle: (callback: Callback) => void;
  const callback = new Promise<Callback>((resolve) => {
    settle = resolve;
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const asked = new URL(request.url ?? '/', 'http://127.0.0.1');
    const get = (name: string): string | undefined => asked.searchParams.get(name) ?? undefined;
    if (request.method !== 'GET' || asked.pathname !== path) return say(response, 404, 'There is nothing here.');
    if (get('state') !== state) return say(response, 400, 'This is not the sign-in that is waited for.');
    const error = get('error');
    say(response, 200, error === undefined ? 'Signed in. You can close this page.' : 'The sign-in was refused.');
    settle({ code: get('code'), iss: get('iss'), error });
  };
  // The page of the sign-in sends the browser here by a redirect.
  const server = await startHttpServer({ clock, port, answer, holdsProcess: true, isLinked: true });
  // The last answer may still be on its way.
  return { redirectUrl: `${server.origin}${path}`, callback, close: () => server.close(lastAnswerMs) };
}

function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { ...noTrace, 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    .end(`${text}\n`);
}
