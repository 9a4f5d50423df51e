import { remoteSignIn } from '../actors/mcp/http/auth/remoteSignIn.ts';
import type { RemoteAuth } from '../actors/mcp/http/access.ts';
import type { RemoteSettings } from '../actors/mcp/http/remoteOptions.ts';
import { remoteTarget } from '../actors/mcp/http/remoteTarget.ts';
import type { ServerTarget } from '../actors/mcp/serverLink.ts';
import { signInDirectory } from '../store/paths.ts';
import { learnRemote, ownHeaders } from './remoteSecrets.ts';
import type { Runtime } from './runtime.ts';

/**
 * A remote MCP server for a runtime, whose redaction learns what the server is shown.
 * @param takesSignIn - uses what somebody signed in to, where the options give no other authorization and there is a sign-in.
 */
export function remoteServer(
  { clock, random, secrets }: Pick<Runtime, 'clock' | 'random' | 'secrets'>,
  settings: RemoteSettings,
  takesSignIn = false,
): ServerTarget {
  learnRemote(secrets, settings);
  const { url, auth } = settings;
  const host = {
    clock,
    directory: signInDirectory(process.env),
    learn: (token: string) => secrets.learn({ token }),
  };
  const isAuthorized = ownHeaders(settings).some(([name]) => name.toLowerCase() === 'authorization');
  let tokens: RemoteAuth | undefined;
  if (auth !== undefined) tokens = 'token' in auth ? auth : remoteSignIn(url, auth, host);
  else if (takesSignIn && !isAuthorized)
    tokens = remoteSignIn(url, { grant: 'sign_in' }, { ...host, isOptional: true });
  return remoteTarget({ ...settings, auth: tokens }, { clock, random }, (learnt) => secrets.learn(learnt));
}
