import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type FactOf, type McpIntegration, type RemoteMcpOptions } from '../../../../src/index.ts';
import { deferred } from '../../../support/deferred.ts';
import { type OfficialServer, startOlder, startSessions, startStateless } from '../officialServers.ts';

const find = { name: 'find', arguments: { text: 'x' } };
const found = { ok: true, value: { content: [{ type: 'text', text: 'x' }] } };

async function start(
  server: OfficialServer,
  options: Partial<RemoteMcpOptions> = {},
): Promise<{ kb: McpIntegration; changed: Promise<FactOf<'mcp.tools_changed'>> }> {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const changed = new Promise<FactOf<'mcp.tools_changed'>>((resolve) => gateway.on('mcp.tools_changed', resolve));
  const kb = gateway.mcpServer('kb', { url: server.url, ...options });
  await gateway.start();
  expect(await kb.tools()).toMatchObject({ ok: true });
  return { kb, changed };
}

describe.each([
  ['SDK 1, with sessions', startSessions],
  ['SDK 1, the transport of 2024', startOlder],
  ['SDK 2, without', startStateless],
] as const)('a server of %s', (_, startServer) => {
  it('[P-4] is called, and back in service after its restart', async () => {
    const server = await startServer();
    const { kb } = await start(server);
    expect(await kb.call(find)).toMatchObject(found);
    await server.restart();
    expect(await kb.call(find, { effect: 'readOnly' })).toMatchObject(found);
    expect(server.ran()).toBe(2);
  });

  it('[P-4] is heard when its tools change', async () => {
    const server = await startServer();
    const { kb, changed } = await start(server);
    await server.listened;
    expect(await kb.call(find)).toMatchObject(found);
    server.addTool('other');
    expect(await changed).toMatchObject({ added: ['other'] });
  });
});

describe('a server of SDK 1', () => {
  it('[P-4] gives an answer after its connection broke, and its tool runs once', async () => {
    const held = deferred<undefined>();
    const server = await startSessions(held.promise.then(() => undefined));
    const { kb } = await start(server);
    const outcome = kb.call(find, { effect: 'mutating' });
    while (server.ran() === 0) await new Promise((resolve) => setImmediate(resolve));
    // What the server said before this, the ID to resume from among it, has been read by then.
    expect(await kb.call({ name: 'nobody' })).toMatchObject({ ok: false });
    server.cut();
    held.resolve(undefined);
    expect(await outcome).toMatchObject(found);
    expect(server.ran()).toBe(1);
  });

  it('[P-4] of the transport of 2024 has it said where that is asked for', async () => {
    const server = await startOlder();
    const { kb } = await start(server, { transport: 'sse' });
    expect(await kb.call(find)).toMatchObject(found);
  });
});
