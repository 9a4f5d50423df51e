import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyUpstream, type UpstreamScript } from '../../testing/faultyUpstream.ts';

async function start(script: UpstreamScript) {
  const upstream = await faultyUpstream(script);
  onTestFinished(() => upstream.close());
  return upstream;
}

const codeOf = async (request: Promise<unknown>): Promise<unknown> => {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return ((error as Error | undefined)?.cause as { code?: string } | undefined)?.code ?? error;
};

describe('the faulty HTTP upstream', () => {
  it('[U-5] answers by its script, the last line for all that follow', async () => {
    const { url, requests } = await start({
      '/a': [{ status: 429, headers: { 'retry-after': '1' } }, { status: 529 }, { body: 'found' }],
    });
    const first = await fetch(`${url}/a?q=1`);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await fetch(`${url}/a`)).status).toBe(529);
    for (let more = 0; more < 2; more++) expect(await (await fetch(`${url}/a`)).text()).toBe('found');
    expect(requests('/a')).toBe(4);
  });

  it('[U-5] does not know a path that the script does not name', async () => {
    const { url } = await start({});
    expect((await fetch(`${url}/toString`)).status).toBe(404);
  });

  it('[U-5] keeps what it received', async () => {
    const { url, received } = await start({ '/a': [{}] });
    await fetch(`${url}/a?q=1`, { method: 'POST', body: 'asked', headers: { 'x-key': '7' } });
    expect(received).toMatchObject([{ method: 'POST', path: '/a', body: 'asked', headers: { 'x-key': '7' } }]);
  });

  it('[U-5] resets the connection', async () => {
    const { url } = await start({ '/a': [{ do: 'reset' }] });
    expect(await codeOf(fetch(`${url}/a`))).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  });

  it('[U-5] cuts the body short', async () => {
    const { url } = await start({ '/a': [{ do: 'cut', body: 'half' }] });
    const response = await fetch(`${url}/a`);
    expect(response.status).toBe(200);
    expect(await codeOf(response.text())).toBe('UND_ERR_SOCKET');
  });

  it('[U-5] stalls in the body', async () => {
    const { url } = await start({ '/a': [{ do: 'stall', body: 'half' }] });
    const controller = new AbortController();
    const response = await fetch(`${url}/a`, { signal: controller.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('half');
    const more = reader?.read();
    controller.abort('enough');
    expect(await codeOf(more ?? Promise.resolve())).toBe('enough');
  });

  it('[U-5] [I-3] hangs before its headers, and lets go when it is closed', async () => {
    const upstream = await start({ '/a': [{ do: 'hang' }] });
    const request = codeOf(fetch(`${upstream.url}/a`));
    while (upstream.requests('/a') === 0) await new Promise((resolve) => setImmediate(resolve));
    await upstream.close();
    expect(await request).toBe('UND_ERR_SOCKET');
  });

  it('[U-5] [I-3] answers late, and not at all once it is closed', async () => {
    const upstream = await start({ '/a': [{ afterMs: 1, body: 'late' }, { afterMs: 1_000_000 }] });
    expect(await (await fetch(`${upstream.url}/a`)).text()).toBe('late');
    const request = codeOf(fetch(`${upstream.url}/a`));
    while (upstream.requests('/a') === 1) await new Promise((resolve) => setImmediate(resolve));
    await upstream.close();
    expect(await request).toBe('UND_ERR_SOCKET');
  });

  it.each([
    [{ a: [{}] }, RangeError, 'Expected a path of `script` to begin with "/", got "a"'],
    [{ '/a': [] }, RangeError, 'Expected `script["/a"]` to be a list'],
    [
      { '/a': [{ status: 600 }] },
      RangeError,
      'Expected `script["/a"][0].status` to be an integer from 200 to 599, got 600',
    ],
    [{ '/a': [{ do: 'hang', status: 200 }] }, RangeError, 'Unknown option `script["/a"][0].status`'],
    [{ '/a': [{ headers: { 'x-a': 'b\n' } }] }, TypeError, 'Invalid character in header content ["x-a"]'],
    [{ '/a': [{ headers: 'x' }] }, TypeError, 'Expected `script["/a"][0].headers` to be an object, got "x"'],
    [{ '/a': [{ do: 'vanish' }] }, RangeError, 'Expected `script["/a"][0].do`'],
  ])('[U-5] is checked at once: %j', async (script, type, message) => {
    await expect(faultyUpstream(script as never)).rejects.toThrow(type);
    await expect(faultyUpstream(script as never)).rejects.toThrow(message);
  });
});
