import { describe, expect, it } from 'vitest';
import { RemoteContext } from '../../../../src/actors/mcp/http/remoteContext.ts';
import type { TargetSettings } from '../../../../src/actors/mcp/http/remoteOptions.ts';
import type { McpRequest } from '../../../../src/protocol/mcp/message.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

const settings = { url: 'http://127.0.0.1:9/mcp', transport: 'auto' } as TargetSettings;
const params = { protocolVersion: '2025-11-25' };
const request = { kind: 'request', id: 7, key: 'n7', method: 'initialize', params } as unknown as McpRequest;
const text = '{"jsonrpc":"2.0","id":1,"result":{}}';

function startContext() {
  const clock = new SimulatedClock();
  const context = new RemoteContext(settings, { clock, random: () => 0 }, () => undefined);
  context.keepGreeting({ params, text, session: 's-1' });
  return { clock, context };
}

describe('a handshake that was made to find out about a session', () => {
  it('[P-4] answers the next one, once, with its id and the session', async () => {
    const { clock, context } = startContext();
    await clock.advance(30_000);
    const response = context.takeGreeting(request);
    expect(response?.headers.get('mcp-session-id')).toBe('s-1');
    expect(await response?.json()).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect(context.takeGreeting(request)).toBeUndefined();
  });

  it('[P-4] answers none after 30 s: the server may know its session no more', async () => {
    const { clock, context } = startContext();
    await clock.advance(30_001);
    expect(context.takeGreeting(request)).toBeUndefined();
  });

  it('[P-4] answers none that says something else', () => {
    const { context } = startContext();
    expect(context.takeGreeting({ ...request, params: { protocolVersion: '2024-11-05' } })).toBeUndefined();
  });
});
