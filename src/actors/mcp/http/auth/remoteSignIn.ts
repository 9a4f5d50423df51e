import { type DeviceCode } from './deviceCode.ts';
import { DevicePrompt } from './devicePrompt.ts';
import type { Clock } from '../../../../policy/clock.ts';
import type { Values } from '../../../../policy/options/optionKeys.ts';
import { byClientCredentials, byRefreshToken } from './renewals.ts';
import { SignInFile } from './signInFile.ts';
import type { signInKeys } from './signInOptions.ts';
import { TokenKeeper } from './tokenKeeper.ts';

interface RemoteSignInHost {
  readonly clock: Clock;
  /** Directory of the tokens unless the options say. */
  readonly directory: string;
  /** Sends no token where nobody signed in, in place of failing: the server may want none. @defaultValue false */
  readonly isOptional?: boolean | undefined;
  readonly learn?: ((token: string) => void) | undefined;
  /** Tells people the code of a sign-in on another device. @param over - aborts when the sign-in is over, and ends it. */
  readonly tell?: ((code: DeviceCode, over: AbortController) => void) | undefined;
}

/** The tokens of a server by its options, checked before. */
export function remoteSignIn(
  url: string,
  { grant, clientId: ofClient, clientSecret: itsSecret, scope, directory }: Values<typeof signInKeys>,
  host: RemoteSignInHost,
): TokenKeeper {
  const { clock, learn, tell = () => undefined, isOptional = false } = host;
  const [clientId, clientSecret] = [ofClient ?? '', itsSecret ?? ''];
  const isProgram = grant === 'client_credentials';
  const file = new SignInFile(directory ?? host.directory, url, clock, isProgram ? `${clientId} ${scope ?? ''}` : '');
  const client = ofClient === undefined ? undefined : { client_id: ofClient, client_secret: itsSecret };
  return new TokenKeeper({
    prompt: grant === 'device_code' ? new DevicePrompt({ clock, file, client, scope, tell }) : undefined,
    clock,
    file,
    renewal: isProgram ? byClientCredentials({ clientId, clientSecret, scope }) : byRefreshToken,
    advice: isProgram
      ? 'check the credentials of the client'
      : `sign in with: unwedge mcp --url ${file.server} --sign-in`,
    asksPeople: !isProgram,
    isOptional,
    learn,
  });
}
