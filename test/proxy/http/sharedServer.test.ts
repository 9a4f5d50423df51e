import type { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SharedServer } from '../../../proxy/http/sharedServer.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a server that several clients share', () => {
  it('[P-5] is unsubscribed from a resource when the last client that wanted it has left', async () => {
    const lines: { readonly id: string; readonly method: string }[] = [];
    const open = ({ input, output }: { readonly input: Readable; readonly output: Writable }): Promise<void> => {
      input.on('data', (chunk) => {
        for (const line of String(chunk).trimEnd().split('\n')) {
          const message = JSON.parse(line) as { readonly id: string; readonly method: string };
          lines.push(message);
          output.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} })}\n`);
        }
      });
      return new Promise(() => undefined);
    };
    const server = new SharedServer({ clock: new SimulatedClock(), open, idleMs: 60_000, version: '1' });
    const clients = [0, 1].map(() => server.attach({ heard: () => undefined, over: () => undefined }));
    for (const client of clients) {
      void client.send('{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}');
      await turn();
    }
    const unsubscribed = () => lines.filter(({ method }) => method === 'resources/unsubscribe').length;
    clients[0]?.end();
    await turn();
    expect(unsubscribed()).toBe(0);
    clients[1]?.end();
    await turn();
    expect(unsubscribed()).toBe(1);
  });
});
