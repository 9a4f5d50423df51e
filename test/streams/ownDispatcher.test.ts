import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptConnections } from '../../src/streams/keptConnections.ts';
import { ownDispatcher } from '../../src/streams/ownDispatcher.ts';
import { answer, inTurn, startGateway, startServer } from '../integrations/http/startHttp.ts';

/** Under the first of these that there is, `fetch` looks for its dispatcher: the newer Node has both. */
const names = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].map((name) => Symbol.for(name));

/** What the global `fetch` sends its requests by, in place of what was there. */
function setDispatcher(dispatcher: object | undefined): void {
  for (const name of names) {
    const own: unknown = Reflect.get(globalThis, name);
    if (own === undefined) continue;
    Reflect.set(globalThis, name, dispatcher);
    onTestFinished(() => void Reflect.set(globalThis, name, own));
  }
}

describe('the global fetch', () => {
  it('[R-14] sends by the dispatcher that the host has set, without its limits on headers and body', async () => {
    await fetch('data:,').then((response) => response.text());
    const own = names.map((name) => Reflect.get(globalThis, name) as unknown).find((each) => each !== undefined) as {
      dispatch: (options: object, handler: unknown) => unknown;
    };
    const seen: object[] = [];
    const server = await startServer(inTurn(answer(200, '1')));
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', { baseUrl: server.url });
    setDispatcher({
      dispatch(options: object, handler: unknown) {
        seen.push(options);
        return own.dispatch(options, handler);
      },
    });
    expect(await api.call({ path: 'a' })).toMatchObject({ ok: true, value: { body: 1 } });
    expect(seen).toEqual([expect.objectContaining({ path: '/a', headersTimeout: 0, bodyTimeout: 0, allowH2: false })]);
  });

  it('[U-12] [R-14] of Deno is asked for HTTP/1.1, through one client for all requests', () => {
    setDispatcher(undefined);
    const asked: object[] = [];
    Reflect.set(globalThis, 'Deno', {
      createHttpClient: (options: object) => {
        asked.push(options);
        return { isClient: true };
      },
    });
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'Deno'));
    const first = ownDispatcher(new KeptConnections());
    expect(first).toEqual({ client: { isClient: true } });
    expect(ownDispatcher(new KeptConnections())).toEqual(first);
    expect(asked).toEqual([{ http2: false }]);
  });

  it('[R-14] keeps its limits where there is no such dispatcher', () => {
    setDispatcher(undefined);
    expect(ownDispatcher(new KeptConnections())).toEqual({});
  });

  it('[R-14] has the dispatcher of its own version, beside that of another undici in the process', async () => {
    await fetch('data:,').then((response) => response.text());
    const [newer, older] = names as [symbol, symbol];
    const isNewer = Reflect.get(globalThis, newer) !== undefined;
    const other = isNewer ? older : newer;
    const before: unknown = Reflect.get(globalThis, other);
    Reflect.set(globalThis, other, {
      dispatch: () => {
        throw new TypeError('a handler of another version');
      },
    });
    onTestFinished(() => void Reflect.set(globalThis, other, before));
    const server = await startServer(inTurn(answer(200, '1')));
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', { baseUrl: server.url });
    expect(await api.call({ path: '' })).toMatchObject({ ok: true });
  });
});

/** What undici tells of a request, as each of its versions has it. */
const versions = {
  'undici 6 and 7': {
    start: 'onConnect',
    tell: (handler: Told, encoding: string) => {
      handler['onConnect']?.(() => undefined);
      handler['onHeaders']?.(103, [], () => undefined, '');
      handler['onHeaders']?.(200, [Buffer.from('content-encoding'), Buffer.from(encoding)], () => undefined, 'OK');
    },
    data: (handler: Told, bytes: Uint8Array) => handler['onData']?.(bytes),
    end: (handler: Told) => handler['onComplete']?.([]),
    error: 'onError',
    ended: 'onComplete',
  },
  'undici 8': {
    start: 'onRequestStart',
    tell: (handler: Told, encoding: string) => {
      handler['onRequestStart']?.({}, {});
      handler['onResponseStart']?.({ rawHeaders: ['content-encoding', encoding] }, 200, {}, 'OK');
    },
    data: (handler: Told, bytes: Uint8Array) => handler['onResponseData']?.({}, bytes),
    end: (handler: Told) => handler['onResponseEnd']?.({}, {}),
    error: 'onResponseError',
    ended: 'onResponseEnd',
  },
};
type Told = Record<string, ((...args: unknown[]) => unknown) | undefined>;

describe.each(Object.entries(versions))('a request of %s', (_, version) => {
  const packed = gzipSync('all of it');

  /** The names of what the handler of `fetch` was told, when this came of its answer. */
  async function told(...chunks: readonly Uint8Array[]): Promise<string[]> {
    const said: string[] = [];
    const all = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError', 'onResponseStarted', 'onBodySent'];
    const newer = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError'];
    const names = version.start === 'onConnect' ? all : newer;
    const settled = new Promise<void>((resolve) => {
      setDispatcher({
        dispatch(_request: object, handler: Told) {
          version.tell(handler, 'gzip');
          for (const chunk of chunks) version.data(handler, chunk);
          version.end(handler);
        },
      });
      const note = (name: string) => () => {
        said.push(name);
        if (name === version.error || name === version.ended) resolve();
      };
      const handler = Object.fromEntries(names.map((name) => [name, note(name)]));
      const { dispatcher } = ownDispatcher(new KeptConnections()) as {
        dispatcher: { dispatch(request: object, handler: object): void };
      };
      dispatcher.dispatch({}, handler);
    });
    await settled;
    return said;
  }

  it('[R-14] is told the end of a whole answer', async () => {
    const said = await told(packed.subarray(0, 8), packed.subarray(8));
    expect(said.at(-1)).toBe(version.ended);
    expect(said).not.toContain(version.error);
  });

  it('[R-14] is told an error at the end of half of one', async () => {
    const said = await told(packed.subarray(0, packed.length - 4));
    expect(said.at(-1)).toBe(version.error);
    expect(said).not.toContain(version.ended);
  });
});

describe('a fetch of the caller', () => {
  it('[R-14] is called without a dispatcher, and given up where it does not listen to its signal', async () => {
    const seen: (RequestInit | undefined)[] = [];
    let cancelled = false;
    const body = new ReadableStream({
      cancel: () => {
        cancelled = true;
      },
    });
    const { gateway, clock } = await startGateway(() => undefined);
    const api = gateway.http('api', {
      baseUrl: 'https://api.example',
      policy: { idleMs: 1000, maxAttempts: 1 },
      fetch: (_url, init) => {
        seen.push(init);
        return Promise.resolve(new Response(body));
      },
    });
    const call = api.call({ path: '' });
    await clock.advance(1000);
    expect(await call).toMatchObject({ ok: false, failure: { reason: 'idle_timeout' } });
    expect(cancelled).toBe(true);
    expect(seen[0]).not.toHaveProperty('dispatcher');
  });

  it.each([
    ['of a redirect', 302, { location: 'https://other.example/' }],
    ['that is too long', 200, { 'content-length': '2000' }],
    ['of a failure', 500, {}],
  ])('[R-14] has a body cancelled that nobody reads: %s', async (_, status, headers) => {
    let cancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(5000)),
      cancel: () => {
        cancelled = true;
      },
    });
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', {
      baseUrl: 'https://api.example',
      maxBodyBytes: 1000,
      policy: { maxAttempts: 1 },
      fetch: () => Promise.resolve(new Response(body, { status, headers })),
    });
    expect((await api.call({ path: '' })).ok).toBe(false);
    expect(cancelled).toBe(true);
  });

  it('[O-8] that tells the address in its errors has it told without its keys', async () => {
    const { gateway } = await startGateway(() => undefined);
    const api = gateway.http('api', {
      baseUrl: 'https://api.example',
      policy: { maxAttempts: 1 },
      fetch: (url, init) => {
        const [[, sent]] = [...new Headers(init?.headers)] as [[string, string]];
        return Promise.reject(
          Object.assign(new Error(`request to ${(url as URL).href} failed: ${sent}`), { code: 'ECONNRESET' }),
        );
      },
    });
    const outcome = await api.call({
      path: '',
      query: { key: 'qqqq-wwww-1' },
      headers: { 'x-api-key': 'eeee-rrrr-2' },
    });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'transient', code: 'ECONNRESET' } });
    expect(outcome.ok ? '' : outcome.failure.message).toBe(
      'request to https://api.example/?key=[redacted] failed: [redacted]',
    );
  });
});
