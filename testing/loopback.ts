import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Has a server listen on this port of 127.0.0.1, by default a free one. @returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Ends a server and every connection, the hanging ones too. */
export function close(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Reads the body of a request. Given up by its client, it is not whole: what arrived of it arrived. */
export async function bodyOf(request: IncomingMessage): Promise<{ readonly body: string; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let isWhole = true;
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    isWhole = false;
  }
  return { body: Buffer.concat(chunks).toString('utf8'), isWhole };
}

/** Waits for conditions, which are asked again after each change. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  readonly told = (): void => {
    for (const check of this.#waiting) check();
  };

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}
