import { connect, type Socket } from 'node:net';

/** A connection that is kept, and does no more for a request than to find the end of its answer. */
export interface RawClient {
  /** @returns ms from the request to the end of its answer. */
  ask(request: Buffer): Promise<number>;
  close(): void;
}

/** Bytes of a request as they go over the connection. */
export function rawRequest(url: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({
    host,
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

const lastChunk = Buffer.from('0\r\n\r\n');

/** Connects to a server that answers in chunks, or with a length. */
export async function connectRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(made));
    made.once('error', reject);
  });
  let ended: (error?: Error) => void = () => undefined;
  /** Bytes that the answer has still to have; undefined before its head has come, -1 where it comes in chunks. */
  let left: number | undefined;
  socket.on('data', (chunk) => {
    const isHead = left === undefined && chunk.indexOf('\r\n\r\n') === chunk.length - 4;
    left = left === undefined ? leftOf(chunk) : left - (left < 0 ? 0 : chunk.length);
    if (left === undefined) ended(new Error(String(chunk)));
    else if (left === 0 || (left < 0 && !isHead && chunk.subarray(-lastChunk.length).equals(lastChunk))) ended();
  });
  socket.on('close', () => ended(new Error('The connection was closed')));
  socket.on('error', () => undefined);
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        const startedAt = performance.now();
        left = undefined;
        ended = (error) => (error === undefined ? resolve(performance.now() - startedAt) : reject(error));
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}

/** Reads the head of an answer that is well. */
function leftOf(chunk: Buffer): number | undefined {
  const head = chunk.toString('latin1');
  if (!head.startsWith('HTTP/1.1 200')) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? -1 : head.indexOf('\r\n\r\n') + 4 + Number(length) - chunk.length;
}
