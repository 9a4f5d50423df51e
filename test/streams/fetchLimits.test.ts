import { describe, expect, it, onTestFinished } from 'vitest';
import { withoutFetchLimits } from '../../src/streams/fetchLimits.ts';
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
    expect(seen).toEqual([expect.objectContaining({ path: '/a', headersTimeout: 0, bodyTimeout: 0 })]);
  });

  it('[R-14] keeps its limits where there is no such dispatcher', () => {
    setDispatcher(undefined);
    expect(withoutFetchLimits()).toEqual({});
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
