import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP service on loopback that is throttled, down, locked and silent, each under a path of its own. */
export interface HttpUpstream {
  readonly url: string;
  /** Requests that reached a path. */
  requests(path: string): number;
  close(): Promise<void>;
}

type Route = (response: ServerResponse, request: number) => void;

const routes: Readonly<Record<string, Route>> = {
  '/http-429': (response, request) => {
    if (request === 1) response.writeHead(429, { 'retry-after': '1' }).end('one moment\n');
    else response.end('here you are\n');
  },
  '/http-503': (response) => response.writeHead(503).end('down for maintenance\n'),
  '/http-outage': (response, request) => {
    if (request <= 2) response.writeHead(503).end('down\n');
    // Not at once, so that a person who watches sees the circuit half open.
    else setTimeout(() => response.end('up again\n'), 250);
  },
  '/http-401': (response) => response.writeHead(401).end('who are you?\n'),
  '/http-silent': () => undefined,
};

/** Listens on a free port of 127.0.0.1. */
export async function startHttpUpstream(): Promise<HttpUpstream> {
  const requests = new Map<string, number>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/';
    const count = (requests.get(path) ?? 0) + 1;
    requests.set(path, count);
    const route = routes[path];
    if (route === undefined) response.writeHead(404).end();
    else route(response, count);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: (path) => requests.get(path) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
