import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../src/policy/failures/face.ts';
import { CommandError, UsageError } from './errors.ts';
import { quoted } from './sanitize.ts';
import type { McpArgs } from './mcp/options.ts';

/** Shortest token that is taken from a file, in characters. */
const shortest = 16;

/**
 * The token in a file. One that is not there is made, with a new token, for its owner to read.
 * @throws {@link CommandError} that says what is wrong with the file.
 */
export function tokenIn(file: string): string {
  try {
    const token = newToken();
    // Fails when it is there, whoever made it in the meantime.
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(file, messageOf(error), error);
  }
  try {
    const found = statSync(file);
    if (!found.isFile()) throw new Error('it is no file');
    if (found.uid !== 0 && found.uid !== (process.getuid?.() ?? found.uid))
      throw new Error('it belongs to another user');
    const token = readFileSync(file, 'utf8').trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('a token is one word of printable ASCII');
    if (token.length < shortest) throw new Error(`a token has at least ${shortest} characters`);
    return token;
  } catch (error) {
    throw unusable(file, messageOf(error), error);
  }
}

function unusable(file: string, why: string, cause: unknown): CommandError {
  return new CommandError(`The token file ${quoted(file)} cannot be used: ${why}`, { cause });
}

/** 144 bits of chance. */
const newToken = (): string => randomBytes(18).toString('base64url');

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
