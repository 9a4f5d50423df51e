import { request as send } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { startFaultyMcpHttpServer } from '../../../testing/index.ts';
import { answer, type HttpServer, inTurn, startServer } from '../../integrations/http/startHttp.ts';
import { startAuthorizationServer } from '../../support/authorizationServer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A relay to a server, whose connections are kept for longer than a test lasts. */
function startRelay(url: string): Promise<HttpServer> {
  return startServer((incoming, response) => {
    const { method, headers } = incoming;
    const { connection: _, ...own } = headers;
    // A connection of its own: a kept one may be another's by the time that this is destroyed.
    const relayed = send(url, { method, headers: own, agent: false }, (answered) => {
      const { connection: __, 'keep-alive': ___, ...others } = answered.headers;
      response.writeHead(answered.statusCode ?? 500, others);
      answered.pipe(response);
    });
    relayed.on('error', () => response.destroy());
    response.on('close', () => relayed.destroy());
    incoming.pipe(relayed);
  });
}

describe('connections that fetch keeps, after the stop of the gateway', () => {
  it('[R-14] [O-3] are none to the webhook of alerts', async () => {
    const server = await startServer(inTurn(answer(204)));
    const gateway = createGateway({ control: false, alerts: { failures: 1, webhook: { url: server.url } } });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => {
      throw new Error('down');
    });
    await gateway.start();
    const delivered = gateway.wait('call.succeeded', { where: ({ integration }) => integration === 'alert:webhook' });
    await kb.call({});
    await delivered;
    expect(server.open.size).toBe(1);
    await gateway.stop();
    await expect.poll(() => server.open.size).toBe(0);
  });

  it.each(['sessions', 'stateless'] as const)('[R-14] [P-4] are none to a remote MCP server: %s', async (era) => {
    const server = await startFaultyMcpHttpServer({ era, answerAs: 'json' });
    onTestFinished(() => server.close());
    const relay = await startRelay(server.url);
    const gateway = createGateway({ control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.mcpServer('kb', { url: relay.url, handshakeMs: 600_000 });
    await gateway.start();
    // The start of a gateway goes on without a server that takes its time, as on a busy machine.
    await expect.poll(() => kb.call({ name: 'echo' })).toMatchObject({ ok: true });
    const calls = Array.from({ length: 5 }, () => kb.call({ name: 'echo' }));
    expect(await Promise.all(calls)).toMatchObject(calls.map(() => ({ ok: true })));
    expect(relay.open.size).toBeGreaterThan(1);
    await gateway.stop();
    await expect.poll(() => relay.open.size).toBe(0);
  });

  it('[R-14] [P-4] are none to who gives the tokens of a sign-in', async () => {
    const giver = await startAuthorizationServer();
    const server = await startFaultyMcpHttpServer({ authorize: giver.accepts, authorizationServer: giver.url });
    onTestFinished(() => server.close());
    const gateway = createGateway({ control: false });
    onTestFinished(() => gateway.stop());
    const account = { grant: 'client_credentials', clientId: 'robot', clientSecret: 'planted-secret' } as const;
    const auth = { ...account, directory: temporaryDirectory() };
    const kb = gateway.mcpServer('kb', { url: server.url, handshakeMs: 600_000, auth });
    await gateway.start();
    await expect.poll(() => kb.call({ name: 'echo' })).toMatchObject({ ok: true });
    expect(giver.tokenRequests).toHaveLength(1);
    await gateway.stop();
    await expect.poll(() => giver.open.size).toBe(0);
  });
});
