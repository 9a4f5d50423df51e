import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TokenRequest } from '../../src/actors/mcp/http/auth/tokenRequest.ts';
import { fetchFailure } from '../../src/integrations/http/fetchFailure.ts';
import { startGuarded } from '../actors/mcp/http/auth/signedIn.ts';
import { SkippingClock } from '../support/skippingClock.ts';

/** A server, and the addresses that it was asked for. */
async function startServer(answer: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const redirectTo = (url: string) => startServer((_, response) => response.writeHead(307, { location: url }).end());

describe('what others have us ask for', () => {
  it('[Q-6] a redirect of the token endpoint gives no code and no verifier to whom it leads', async () => {
    const thief = await startServer((_, response) => response.end('{}'));
    const redirect = await redirectTo(`${thief.url}/token`);
    const { signIn } = await startGuarded({ metadata: { token_endpoint: `${redirect.url}/token` } });
    expect(await signIn()).toMatchObject({ ok: false });
    expect([redirect.asked, thief.asked]).toEqual([['POST /token'], []]);
  });

  it('[Q-6] the metadata of a server that is asked by https has nothing of this machine asked: not at once, not by a redirect', async () => {
    const local = await startServer((_, response) => response.end('{}'));
    const request = new TokenRequest(new SkippingClock(), 'https://mcp.example/');
    for (const method of ['GET', 'POST'])
      await expect(request.fetch(`${local.url}/register`, { method })).rejects.toThrow('it is not https');
    request.end();
    expect(local.asked).toEqual([]);
  });

  it('[Q-6] redirects of what is read are followed to an end, those of what carries something not at all', async () => {
    const round = await redirectTo('/again');
    const request = new TokenRequest(new SkippingClock(), round.url);
    expect((await request.fetch(round.url)).status).toBe(307);
    expect((await request.fetch(round.url, { method: 'POST', body: 'client_secret=x' })).status).toBe(307);
    request.end();
    expect(round.asked.filter((each) => each.startsWith('POST'))).toEqual(['POST /']);
    expect(round.asked).toHaveLength(7);
  });

  it('[Q-6] a body that is a thousand times as long as what came is read no further than its limit', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const { url } = await startServer((_, response) =>
      response.writeHead(500, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(bomb),
    );
    const before = process.memoryUsage().arrayBuffers;
    const error = await fetchFailure(await fetch(url));
    expect(error.message.length).toBeLessThan(5000);
    const request = new TokenRequest(new SkippingClock(), url);
    await expect(request.fetch(url)).rejects.toThrow('More than');
    request.end();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });
});
