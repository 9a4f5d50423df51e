import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApiProxy, streamed } from '../startApiProxy.ts';

async function serve(answer: RequestListener, host = '127.0.0.1', port = 0): Promise<AddressInfo> {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return server.address() as AddressInfo;
}

const unlessWithout = (error: unknown): undefined => {
  if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
  throw error;
};

describe('an upstream', () => {
  it('[E-7] is reached by its IPv6 address, and asked under it', async ({ skip }) => {
    const hosts: (string | undefined)[] = [];
    const upstream = await serve(({ headers }, response) => {
      hosts.push(headers.host);
      response.end('{}');
    }, '::1').catch(unlessWithout);
    if (upstream === undefined) return skip('This machine has no IPv6');
    const { ask } = await startApiProxy({ upstream: `http://[::1]:${upstream.port}` });
    expect(await ask({ body: streamed({ stream: false }) }).got).toMatchObject({ status: 200, text: '{}' });
    expect(hosts).toEqual([`[::1]:${upstream.port}`]);
  });

  it('[E-7] that cannot be reached is told of once, and once when it is reached again', async () => {
    const lines: string[] = [];
    const tell = (line: string): void => void lines.push(line);
    const logger = { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
    const first = createServer();
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
    const { port } = first.address() as AddressInfo;
    await new Promise((resolve) => first.close(resolve));
    const { ask, told } = await startApiProxy({ upstream: `http://127.0.0.1:${port}`, gateway: { logger } });
    const asking = ask();
    await told('call.retried', 3);
    await serve((_request, response) => void response.end('{}'), '127.0.0.1', port);
    expect((await asking.got).status).toBe(200);
    expect(lines).toEqual([`127.0.0.1:${port} cannot be reached (ECONNREFUSED)`, `127.0.0.1:${port} is reached again`]);
  });

  it('[E-7] gets requests that were sent in one piece on one connection, and they are answered in their order', async () => {
    const waiting: (() => void)[] = [];
    const upstream = await serve(({ url }, response) => {
      waiting.push(() => response.end(`answer of ${url}`));
      // The second one is answered first.
      if (waiting.length === 2) for (const answer of waiting.reverse()) answer();
    });
    const { server } = await startApiProxy({ upstream: `http://127.0.0.1:${upstream.port}` });
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
    socket.write(request('/one') + request('/two'));
    let text = '';
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.includes('answer of /two')) resolve();
      });
    });
    expect(text.match(/answer of \/(?:one|two)/g)).toEqual(['answer of /one', 'answer of /two']);
  });

  it('[E-7] gets what is beyond all that is kept of bodies once, as it comes', async () => {
    const bodies: string[] = [];
    let held: (() => void) | undefined;
    const upstream = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.once('end', () => {
        bodies.push(body);
        const refuse = (): void => void response.writeHead(503).end();
        if (held === undefined) held = refuse;
        else refuse();
      });
    });
    const { ask } = await startApiProxy({
      upstream: `http://127.0.0.1:${upstream.port}`,
      maxKeptInAllBytes: 300,
      policy: { maxAttempts: 2, retry: { backoff: { kind: 'constant', delayMs: 1 } } },
    });
    const body = streamed({ filler: 'x'.repeat(150) });
    const first = ask({ body });
    await expect.poll(() => bodies.length).toBe(1);
    const second = await ask({ body, headers: { 'x-api-key': 'key-two' } }).got;
    expect([second.status, bodies.length]).toEqual([503, 2]);
    held?.();
    expect((await first.got).status).toBe(503);
    // The first was kept, and sent again.
    expect(bodies).toEqual([body, body, body]);
  });
});
