import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { httpScript } from '../../../../testing/demo/httpFaults.ts';
import { startWsUpstream } from '../../../../testing/demo/wsUpstream.ts';
import { faultyUpstream } from '../../../../testing/faultyUpstream.ts';

async function startHttp() {
  const upstream = await faultyUpstream(httpScript);
  onTestFinished(() => upstream.close());
  return upstream;
}

/** What becomes of one request: the answer, or the code the connection is closed with. */
function ask(path: string, url: string): Promise<string | number> {
  const socket = new WebSocket(`${url}${path}`);
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('open', () => socket.send('{}'));
    socket.on('close', resolve);
    socket.on('message', (data: Buffer) => {
      resolve(data.toString());
      socket.terminate();
    });
  });
}

describe('the HTTP upstream', () => {
  it('is throttled for one request, and names the time', async () => {
    const { url, requests } = await startHttp();
    const first = await fetch(`${url}/http-429`);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await fetch(`${url}/http-429`)).status).toBe(200);
    expect(requests('/http-429')).toBe(2);
  });

  it('[I-3] is down for two requests and up again then', async () => {
    const { url } = await startHttp();
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await fetch(`${url}/http-outage`)).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  it.each([
    ['/http-503', 503],
    ['/http-401', 401],
    ['/elsewhere', 404],
  ])('answers %s with %i', async (path, status) => {
    const { url } = await startHttp();
    expect((await fetch(url + path)).status).toBe(status);
  });

  it('[I-3] closes while a request is not answered', async () => {
    const upstream = await faultyUpstream(httpScript);
    const silent = fetch(`${upstream.url}/http-silent`).catch((error: unknown) => error);
    while (upstream.requests('/http-silent') === 0) await new Promise(setImmediate);
    await upstream.close();
    expect(await silent).toBeInstanceOf(TypeError);
  });
});

describe('the WebSocket upstream', () => {
  it('[G-1] restarts with 1012 during the first request and comes back', async () => {
    const { url, close } = await startWsUpstream();
    onTestFinished(close);
    expect(await ask('/ws-restart', url)).toBe(1012);
    let answer: string | number = 1006;
    while (answer === 1006) answer = await ask('/ws-restart', url);
    expect(answer).toBe('back again');
  });

  it('[G-3] is lost with 1006 during the first request and stays away', async () => {
    const { url, close } = await startWsUpstream();
    onTestFinished(close);
    expect(await ask('/ws-lost', url)).toBe(1006);
    expect(await ask('/ws-lost', url)).toBe(1006);
  });
});
