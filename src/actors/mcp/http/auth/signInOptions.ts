import { choice, type Given, type Tell, text, type Values } from '../../../../policy/options/optionKeys.ts';
import { show } from '../../../../policy/text/showValue.ts';

export const signInKeys = {
  /**
   * `sign_in`: a person has signed in, with `unwedge mcp --url URL --sign-in`. `client_credentials`: the program has an account of its own,
   * with `clientId` and `clientSecret`. @defaultValue 'sign_in'
   */
  grant: choice(['sign_in', 'client_credentials'], { default: 'sign_in' }),
  /** The account of the program, with `client_credentials`. */
  clientId: text(),
  /** Kept out of all that is told. */
  clientSecret: text({ secret: true }),
  /** Asked for with `client_credentials`, words with a blank between. @defaultValue what the server gives */
  scope: text(),
  /** Directory in which tokens are kept, in files for their owner alone. @defaultValue `unwedge/sign-ins` in the XDG state directory */
  directory: text(),
};

/** Options of a sign-in for a remote server's tokens. */
export interface RemoteSignInOptions extends Given<typeof signInKeys> {}

/** Credentials are for a program that has some. */
export function signInRule({ grant, clientId, clientSecret }: Values<typeof signInKeys>, tell: Tell): void {
  const isProgram = grant === 'client_credentials';
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (isProgram === (value !== undefined)) continue;
    tell(name, { says: `to be ${isProgram ? 'given' : 'left out'} where \`grant\` is ${show(grant)}`, value });
  }
}
