import { describe, expect, it } from 'vitest';
import { ServerRequests } from '../../../proxy/mcp/serverRequests.ts';
import { type McpRequest, readMessage } from '../../../src/protocol/mcp/message.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  const requests = new ServerRequests({ clock, nextId: () => 'renamed' });
  const ask = (method: string): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
    requests.asked(readMessage(text) as McpRequest, Buffer.from(text), text);
  };
  return { clock, requests, ask };
}

describe('what the server asks of the client', () => {
  it('[P-3] excuses its silence for a minute where a program answers', async () => {
    const { clock, requests, ask } = start();
    expect(requests.isWaiting).toBe(false);
    ask('roots/list');
    await clock.advance(59_999);
    expect(requests.isWaiting).toBe(true);
    await clock.advance(1);
    expect(requests.isWaiting).toBe(false);
  });

  it.each(['elicitation/create', 'sampling/createMessage'])(
    '[P-3] [G-14] by %s excuses its silence as long as a person takes to answer',
    async (method) => {
      const { clock, requests, ask } = start();
      ask(method);
      await clock.advance(24 * 60 * 60_000);
      expect(requests.isWaiting).toBe(true);
      requests.lost();
      expect(requests.isWaiting).toBe(false);
    },
  );
});
