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
}

/** The tokens of a server by its options, checked before. */
export function remoteSignIn(
  url: string,
  { grant, clientId = '', clientSecret = '', scope, directory }: Values<typeof signInKeys>,
  host: RemoteSignInHost,
): TokenKeeper {
  const { clock, learn, isOptional = false } = host;
  const isProgram = grant === 'client_credentials';
  const file = new SignInFile(directory ?? host.directory, url, clock, isProgram ? `${clientId} ${scope ?? ''}` : '');
  return new TokenKeeper({
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
