import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ControlServerOptions, startControlServer } from '../../src/control/server.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** A server that listens in a directory of its own. */
export async function startControl(options: Partial<Omit<ControlServerOptions, 'clock'>> = {}) {
  const clock = new SimulatedClock();
  const path = join(temporaryDirectory(), 'one.sock');
  const server = startControlServer({ path, methods: { echo: (params) => params }, clock, ...options });
  onTestFinished(() => server.close());
  return { server, clock, path, ready: await server.ready };
}

export interface Client {
  readonly socket: Socket;
  /** Settles when the server has let the client go. */
  readonly closed: Promise<unknown>;
  send(...lines: string[]): void;
  /** The next answer; rejects when the server has let the client go instead. */
  next(): Promise<unknown>;
}

/** A client that writes what it likes. */
export async function connect(path: string): Promise<Client> {
  const socket = createConnection(path);
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let text = '';
  const answers: string[] = [];
  const wanted: ((line: string) => void)[] = [];
  socket.on('data', (chunk) => {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const want = wanted.shift();
      if (want === undefined) answers.push(line);
      else want(line);
    }
  });
  return {
    socket,
    closed,
    send: (...lines) => void socket.write(lines.map((line) => `${line}\n`).join('')),
    async next() {
      const line =
        answers.shift() ??
        (await Promise.race([
          new Promise<string>((resolve) => wanted.push(resolve)),
          closed.then(() => Promise.reject(new Error('closed'))),
        ]));
      return JSON.parse(line) as unknown;
    },
  };
}

/** A request as a line. */
export const request = (id: number | string, method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
