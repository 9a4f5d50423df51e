import { choice, type Given, type Tell, text, type Values } from '../../../../policy/options/optionKeys.ts';
import { show } from '../../../../policy/text/showValue.ts';

export const signInKeys = {
  /**
   * `sign_in`: a person has signed in, with `unwedge mcp --url URL --sign-in`. `client_credentials`: the program has an account of its own,
   * with `clientId` and `clientSecret`. `device_code`: a person signs in on another device (RFC 8628), with a code that is told where there is no sign-in.
   * @defaultValue 'sign_in'
   */
  grant: choice(['sign_in', 'device_code', 'client_credentials'], { default: 'sign_in' }),
  /** The account of the program, with `client_credentials`; with `device_code` a client that the server knows. @defaultValue one is registered */
  clientId: text(),
  /** Kept out of all that is told. */
  clientSecret: text({ secret: true }),
  /** Asked for with `client_credentials` and `device_code`, words with a blank between. @defaultValue what the server gives */
  scope: text(),
  /** Directory in which tokens are kept, in files for their owner alone. @defaultValue `unwedge/sign-ins` in the XDG state directory */
  directory: text(),
};

/** Options of a sign-in for a remote server's tokens. */
export interface RemoteSignInOptions extends Given<typeof signInKeys> {}

/** Credentials are for a program that has some. */
export function signInRule({ grant, clientId, clientSecret }: Values<typeof signInKeys>, tell: Tell): void {
  const isProgram = grant === 'client_credentials';
  if (grant === 'device_code') {
    if (clientSecret !== undefined && clientId === undefined)
      tell('clientId', { says: 'to be given beside `clientSecret`', value: clientId });
    return;
  }
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (isProgram === (value !== undefined)) continue;
    tell(name, { says: `to be ${isProgram ? 'given' : 'left out'} where \`grant\` is ${show(grant)}`, value });
  }
}
