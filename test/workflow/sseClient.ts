import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** An HTTP server of the test's own; resolves with its address. */
export async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface SseClient {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  /** What has arrived. */
  readonly text: () => string;
  /** Resolves when so many events have arrived, or the connection has ended. */
  events(count: number): Promise<readonly string[]>;
  /** Resolves with everything when the response has ended. */
  readonly ended: Promise<string>;
  /** Goes away without a word. */
  leave(): void;
}

/** Connects as a frontend would. */
export function connect(url: string, lastEventId?: string): Promise<SseClient> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      const looks = new Set<() => void>();
      const look = (): void => {
        for (const each of looks) each();
      };
      let over = false;
      const ended = new Promise<string>((done) => {
        response.on('close', () => {
          over = true;
          look();
          done(text);
        });
      });
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        look();
      });
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode,
        headers: response.headers,
        text: () => text,
        ended,
        leave: () => void request.destroy(),
        events: (count) =>
          new Promise((done) => {
            const each = (): void => {
              const events = eventsIn(text);
              if (events.length < count && !over) return;
              looks.delete(each);
              done(events);
            };
            looks.add(each);
            each();
          }),
      });
    });
  });
}

/** The whole events of a stream, without comments. */
export function eventsIn(text: string): string[] {
  const frames = text.split('\n\n').slice(0, -1);
  return frames.filter((frame) => !frame.startsWith(':'));
}

/** What the events of a stream say. */
export function toldIn(text: string): { type: string; data: Record<string, unknown> }[] {
  return eventsIn(text).map((frame) => JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '') as never);
}

/** Their ids. */
export function idsIn(text: string): number[] {
  return eventsIn(text).map((frame) => Number(/^id: (\d+)$/m.exec(frame)?.[1]));
}
