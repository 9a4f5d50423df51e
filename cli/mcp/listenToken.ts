import { UsageError } from '../errors.ts';
import { newToken, tokenIn } from '../tokenFile.ts';
import type { McpArgs } from './options.ts';

export interface ListenToken {
  readonly value: string;
  /** Undefined when it was made for this run, and is on record nowhere. */
  readonly file: string | undefined;
}

/**
 * Returns the token that clients have to show: undefined with `--no-token`, that in the file, else a new one. A file that is not there is made, for its owner
 * to read.
 * @throws {@link UsageError}, or what {@link tokenIn} throws, that says what is wrong.
 */
export function listenToken(args: Pick<McpArgs, 'token-file' | 'no-token'>): ListenToken | undefined {
  const file = args['token-file'];
  if (args['no-token']) {
    if (file !== undefined) throw new UsageError('Expected `--token-file` or `--no-token`, got both');
    return undefined;
  }
  return file === undefined ? { value: newToken(), file } : { value: tokenIn(file), file };
}
