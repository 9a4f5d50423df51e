import type { IncomingMessage } from 'node:http';

const usualBytes = 16_384;

/** The body of a request as JSON. @throws TypeError for one that is none, or is sent as another type, as forms of other sites would be. */
export async function readBody(request: IncomingMessage, mostBytes = usualBytes): Promise<unknown> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json *(?:;|$)/i.test(type)) throw new TypeError('The body has to be sent as application/json.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new RangeError(`A body may have ${mostBytes} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new TypeError('The body is no JSON.');
  }
}
