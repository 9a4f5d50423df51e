import { AttemptError, messageOf } from '../../../src/policy/failures/face.ts';
import type { SdkQueryFunction } from './agentSdkTypes.ts';

/** The optional package; its name in a variable, so that nothing looks for its types. */
export const sdkPackage: string = '@anthropic-ai/claude-agent-sdk';

/**
 * `query` of the installed Claude Agent SDK.
 * @throws {@link AttemptError} that names the package to install.
 */
export async function importQuery(): Promise<SdkQueryFunction> {
  let found: { readonly query?: unknown };
  try {
    found = (await import(sdkPackage)) as typeof found;
  } catch (error) {
    throw new AttemptError({
      kind: 'spawn',
      message: isMissing(error)
        ? `The Claude Agent SDK is not installed; run: npm install ${sdkPackage}`
        : `The Claude Agent SDK cannot be loaded: ${messageOf(error)}`,
      outcome: 'not_started',
      code: isMissing(error) ? 'ENOENT' : undefined,
      cause: error,
    });
  }
  if (typeof found.query === 'function') return found.query as SdkQueryFunction;
  const message = `${sdkPackage} has no function \`query\`; install a newer version`;
  throw new AttemptError({ kind: 'spawn', message, outcome: 'not_started' });
}

/** Tells whether it is the package itself that is missing, and not something that it needs; bundlers say it in words of their own. */
function isMissing(error: unknown): boolean {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  const [, missing] =
    /(?:Cannot find (?:package|module)|Could not resolve) ['"]([^'"]+)['"]/.exec(String(message)) ?? [];
  return missing === sdkPackage;
}
