import type { IncomingMessage } from 'node:http';

/** Longest message of a client, in bytes; the servers of the SDKs take as much. */
export const maxBodyBytes = 4 * 1024 * 1024;

/** The body of a request, or why there is none: it is too large, or its sender left. How long it may take its listener watches. Never rejects. */
export function readRequestBody(request: IncomingMessage): Promise<Buffer | 'too_large' | 'left'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.resolve('too_large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // The rest of a body that is not wanted is not kept.
      if (bytes > maxBodyBytes) resolve('too_large');
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks, bytes)));
    request.once('close', () => resolve('left'));
    request.once('error', () => resolve('left'));
  });
}
