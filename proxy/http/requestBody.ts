import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../src/policy/face.ts';

/** Longest message of a client, in bytes; the servers of the SDKs take as much. */
export const maxBodyBytes = 4 * 1024 * 1024;
/** Time that a client may take to send it, in ms. */
const bodyMs = 60_000;

/** The body of a request, or why there is none: it is too large, came too slowly, or its sender left. Never rejects. */
export function readRequestBody(
  request: IncomingMessage,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
): Promise<Buffer | 'too_large' | 'too_slow' | 'left'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.resolve('too_large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (outcome: Buffer | 'too_large' | 'too_slow' | 'left'): void => {
      clock.clearTimeout(timer);
      request.off('data', take);
      // The rest of a body that is not wanted is not kept.
      if (typeof outcome === 'string') request.resume();
      resolve(outcome);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) end('too_large');
      else chunks.push(chunk);
    };
    const timer = clock.setTimeout(() => end('too_slow'), bodyMs, { running: true });
    request.on('data', take);
    request.once('end', () => end(Buffer.concat(chunks, bytes)));
    request.once('close', () => end('left'));
    request.once('error', () => end('left'));
  });
}
