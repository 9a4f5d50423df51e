import { isIP } from 'node:net';
import { UsageError } from '../errors.ts';
import { quoted } from '../sanitize.ts';
import { type ServeArgs, usualPort } from './options.ts';

/** Place to listen at. */
export interface ListenPlace {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

/**
 * The place that `--port` or `--listen` names. Beyond this machine a token is needed that clients can know.
 * @throws {@link UsageError} that says what is wrong.
 */
export function listenPlace(args: Pick<ServeArgs, 'port' | 'listen' | 'token-file' | 'no-token'>): ListenPlace {
  const { port, listen, 'token-file': tokenFile, 'no-token': noToken } = args;
  if (listen === undefined) return { host: loopback, port };
  if (port !== usualPort) throw new UsageError('Expected `--port` or `--listen`, got both');
  const [, named, ipv6, digits] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(listen) ?? [];
  const host = (named ?? ipv6 ?? '').replace(/^localhost$/i, loopback);
  if (isIP(host) === 0 || Number(digits) > 65_535)
    throw new UsageError(
      `Expected \`--listen\` to be ADDRESS:PORT, such as 127.0.0.1:${usualPort}, got ${quoted(listen)}`,
    );
  if (host !== loopback && (noToken || tokenFile === undefined))
    throw new UsageError(
      `--listen ${host} takes requests under any name, and from wherever it is reached: it needs --token-file FILE, whose token they show. There is no TLS; put a proxy that has it in front`,
    );
  return { host, port: Number(digits) };
}

const loopback = '127.0.0.1';
