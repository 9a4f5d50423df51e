import { remoteSignIn } from '../actors/mcp/http/auth/remoteSignIn.ts';
import type { DeviceCode } from '../actors/mcp/http/auth/deviceCode.ts';
import { deviceWords } from '../actors/mcp/http/auth/devicePrompt.ts';
import type { RemoteAuth } from '../actors/mcp/http/access.ts';
import type { RemoteSettings } from '../actors/mcp/http/remoteOptions.ts';
import { remoteTarget } from '../actors/mcp/http/remoteTarget.ts';
import type { ServerTarget } from '../actors/mcp/serverLink.ts';
import { signInDirectory } from '../store/paths.ts';
import { say } from '../policy/text/logger.ts';
import { learnRemote, ownHeaders } from './remoteSecrets.ts';
import type { Runtime } from './runtime.ts';

/** Parts of a runtime that a remote server needs, and those by which people hear of a code. */
export type RemoteWorld = Pick<Runtime, 'clock' | 'random' | 'secrets'> &
  Partial<Pick<Runtime, 'inbox' | 'logger' | 'join'>>;

/**
 * A remote MCP server for a runtime, whose redaction learns what the server is shown.
 * @param takesSignIn - uses what somebody signed in to, where the options give no other authorization and there is a sign-in.
 */
export function remoteServer(world: RemoteWorld, settings: RemoteSettings, takesSignIn = false): ServerTarget {
  const { clock, random, secrets } = world;
  learnRemote(secrets, settings);
  const { url, auth } = settings;
  const host = {
    clock,
    directory: signInDirectory(process.env),
    learn: (token: string) => secrets.learn({ token }),
    tell: (code: DeviceCode, over: AbortController) => tellCode(world, url, code, over),
  };
  const isAuthorized = ownHeaders(settings).some(([name]) => name.toLowerCase() === 'authorization');
  let tokens: RemoteAuth | undefined;
  if (auth !== undefined) tokens = 'token' in auth ? auth : remoteSignIn(url, auth, host);
  else if (takesSignIn && !isAuthorized)
    tokens = remoteSignIn(url, { grant: 'sign_in' }, { ...host, isOptional: true });
  return remoteTarget({ ...settings, auth: tokens }, { clock, random }, (learnt) => secrets.learn(learnt));
}

/**
 * Tells people the code of a sign-in on another device: by the log, and in the inbox where one is on, which lists it and may decline it.
 * @param over - aborts when the sign-in is over; aborting it ends the sign-in.
 */
export function tellCode(
  { inbox, logger, join }: Pick<RemoteWorld, 'inbox' | 'logger' | 'join'>,
  url: string,
  code: DeviceCode,
  over: AbortController,
): void {
  const { host } = new URL(url);
  const { whole, lifeMs } = code;
  say(logger, 'warn', `${host}: ${deviceWords(code)}`);
  join?.({ afterCalls: () => over.abort() });
  const what = deviceWords(code);
  void inbox
    ?.ask({
      ...{ source: 'sign_in', asker: host, what, overallMs: lifeMs, signal: over.signal },
      detail: whole === undefined ? undefined : { address: whole },
    })
    .then(({ answer }) => {
      if (answer?.decision === 'decline') over.abort();
    });
}
