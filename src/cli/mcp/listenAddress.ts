import { UsageError } from '../errors.ts';
import { quoted } from '../sanitize.ts';

/**
 * The port of `--listen`.
 * @throws {@link UsageError} for an address that others could reach, and for what is none.
 */
export function listenPort(text: string): number {
  const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new UsageError(`Expected \`--listen\` to be 127.0.0.1:PORT, got ${quoted(text)}`);
  }
  if (host !== undefined && host !== '127.0.0.1' && host.toLowerCase() !== 'localhost') {
    throw new UsageError(
      `Expected \`--listen\` to be 127.0.0.1:PORT, got ${quoted(text)}: whoever reaches the server may have it run things in your name, ` +
        'so it is offered on this machine alone; put a proxy with TLS and a login of its own in front for others',
    );
  }
  return Number(port);
}
