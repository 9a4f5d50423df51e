import type { ServerResponse } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';

/** Sends frames as the messages of an event stream, no faster than the viewer reads them. */
export function sendEvents(frames: Readable, response: ServerResponse): void {
  response.writeHead(200, {
    'Cache-Control': 'no-store',
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.flushHeaders();
  const asMessages = new Transform({
    writableObjectMode: true,
    transform: (frame: string, _encoding, done) => done(null, `data: ${frame}\n\n`),
  });
  // The first to leave ends the others; nobody is left to tell.
  pipeline(frames, asMessages, response, () => undefined);
}
