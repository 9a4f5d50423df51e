import type { DeviceCode } from '../../../../../src/actors/mcp/http/auth/deviceCode.ts';
import { remoteSignIn } from '../../../../../src/actors/mcp/http/auth/remoteSignIn.ts';
import { type RemoteSignInOptions, signInKeys } from '../../../../../src/actors/mcp/http/auth/signInOptions.ts';
import { type SignInRequest, signIn } from '../../../../../cli/mcp/signIn.ts';
import { SignInFile } from '../../../../../src/actors/mcp/http/auth/signInFile.ts';
import { readOptions } from '../../../../../src/policy/options/readOptions.ts';
import type { FaultyMcpHttpServerOptions } from '../../../../../testing/faultyMcpHttpScript.ts';
import { startFaultyMcpHttpServer } from '../../../../../testing/faultyMcpHttpServer.ts';
import { onTestFinished } from 'vitest';
import { type AuthorizationServerOptions, startAuthorizationServer } from '../../../../support/authorizationServer.ts';
import { SkippingClock } from '../../../../support/skippingClock.ts';
import { temporaryDirectory } from '../../../../support/temporary.ts';

/** Opens the address as a browser does: follows it back to where it came from. */
export const browse = (address: string): void => void fetch(address).then((page) => page.text());

/** A server that wants tokens, who gives them, and where they are kept. */
export async function startGuarded(options: AuthorizationServerOptions = {}, more: FaultyMcpHttpServerOptions = {}) {
  const giver = await startAuthorizationServer(options);
  const server = await startFaultyMcpHttpServer({ authorize: giver.accepts, authorizationServer: giver.url, ...more });
  onTestFinished(() => server.close());
  const directory = temporaryDirectory();
  const clock = new SkippingClock();
  clock.stop();
  const file = new SignInFile(directory, server.url, clock);
  const learned: string[] = [];
  return {
    giver,
    server,
    directory,
    clock,
    file,
    learned,
    signIn: (request: Partial<SignInRequest> = {}) => signIn({ file, clock, waitMs: 60_000, show: browse, ...request }),
    /** As one process has it. */
    keeper: (own: RemoteSignInOptions = {}, isOptional = false, tell?: (code: DeviceCode) => void) =>
      remoteSignIn(server.url, readOptions('', own, signInKeys), {
        clock,
        directory,
        isOptional,
        tell,
        learn: (token) => void learned.push(token),
      }),
  };
}

/** What a client does: sends its request with the token, and once more where a refusal leads to a new one. */
export async function request(url: string, keeper: ReturnType<typeof remoteSignIn>): Promise<number> {
  const { signal } = new AbortController();
  const send = async (token: string | undefined): Promise<Response> => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.text();
    return response;
  };
  const token = await keeper.token(signal);
  const { status } = await send(token);
  if (status !== 401 || token === undefined) return status;
  if (!(await keeper.refused(token, { status }, signal))) return status;
  return (await send(await keeper.token(signal))).status;
}

/** The facts that a promise rejects with. */
export async function factsOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return (error as { facts?: unknown }).facts ?? error;
  }
}
