import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answer, type HttpServer, inTurn, startGateway, startServer } from '../startHttp.ts';

/** Answers with JSON, over connections that it keeps for longer than a test lasts. */
const startKeeping = () => startServer(inTurn(answer(200, '1')));

/** Sends requests until one goes over this connection: which one of its pool `fetch` takes is its own business. */
async function useAgain(kept: Socket, server: HttpServer, send: () => Promise<unknown>): Promise<void> {
  do await send();
  while (server.received.at(-1)?.socket !== kept);
}

describe('connections that fetch keeps for an integration', () => {
  it('[R-14] are closed by the stop of the gateway, and nobody else’s', async () => {
    const server = await startKeeping();
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', { baseUrl: server.url });
    await Promise.all(Array.from({ length: 5 }, () => api.call({ path: '' })));
    expect(server.open.size).toBe(5);
    await gateway.stop();
    await expect.poll(() => server.open.size).toBe(0);
  });

  /** From undici 8 on the connections of one `allowH2` are not used for requests of the other. */
  const isShared = Number.parseInt(process.versions.node) < 26;
  it.runIf(isShared)('[R-14] are left where a request of the host went over them last', async () => {
    const server = await startKeeping();
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', { baseUrl: server.url });
    await api.call({ path: '' });
    const [kept] = server.open as ReadonlySet<Socket>;
    if (kept === undefined) throw new Error('none is open');
    const send = async (): Promise<unknown> => (await fetch(server.url)).json();
    await useAgain(kept, server, send);
    await gateway.stop();
    expect(await send()).toBe(1);
    expect(server.open.has(kept)).toBe(true);
  });

  it('[R-14] are closed with the end of the body that is read as its gateway stops', async () => {
    const server = await startServer((_, response) => void response.writeHead(200).write('half'));
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', { baseUrl: server.url, parse: 'response' });
    const got = await api.call({ path: '' });
    if (!got.ok) throw got.failure;
    await gateway.stop();
    expect(server.open.size).toBe(1);
    (await server.arrived(1)).end(' and half');
    expect(await got.value.body.text()).toBe('half and half');
    await expect.poll(() => server.open.size).toBe(0);
  });

  it('[R-14] of one gateway are none of another’s', async () => {
    const server = await startKeeping();
    const { gateway: first } = await startGateway(() => undefined);
    const { gateway: second } = await startGateway(() => undefined);
    const [api, other] = [first, second].map((gateway) => gateway.http('api', { baseUrl: server.url }));
    await api?.call({ path: '' });
    const [kept] = server.open as ReadonlySet<Socket>;
    if (kept === undefined || other === undefined) throw new Error('none is open');
    await useAgain(kept, server, () => other.call({ path: '' }));
    await first.stop();
    expect(await other.call({ path: '' })).toMatchObject({ ok: true });
    expect(server.open.has(kept)).toBe(true);
    await second.stop();
    await expect.poll(() => server.open.size).toBe(0);
  });
});
