import { describe, expect, it, onTestFinished } from 'vitest';
import type { PolicyInput } from '../../../../src/policy/policyInput.ts';
import type { Registry } from '../../../../src/runtime/registry.ts';
import { faultyModelApi } from '../../../../testing/index.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const opening: PolicyInput = {
  retry: { backoff: { kind: 'constant', delayMs: 1 } },
  breaker: { consecutiveFailures: 3, resetTimeoutMs: 50, openFactor: 1 },
};
const other = { headers: { 'x-api-key': 'key-two' } };

/** Resolves once so many requests of keys have an attempt, which may be held back. */
const underWay = async (registry: Pick<Registry, 'status'>, count: number): Promise<void> => {
  const ofKeys = (): number =>
    registry
      .status()
      .integrations.filter(({ integration }) => integration.includes('#'))
      .reduce((sum, { inFlight }) => sum + inFlight, 0);
  await expect.poll(ofKeys).toBe(count);
};

describe('the circuits of a proxy', () => {
  it('[E-7] requests are held back while the circuit of the upstream is open, and go on with its probe', async () => {
    const { ask, api, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 5 }, {}],
      policy: opening,
    });
    const all = await Promise.all([ask().got, ask(other).got, ask(other).got]);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(of('breaker.opened')[0]).toMatchObject({ integration: 'model', kind: 'overloaded' });
    expect(of('breaker.closed').at(-1)).toMatchObject({ integration: 'model' });
    // Five that failed, and one for each: nobody asked while it was open but its probes.
    expect(api.requests).toHaveLength(8);
    expect(of('call.failed')).toEqual([]);
  });

  it('[E-7] a 429 holds back the key and the model that it is for, and nobody else', async () => {
    const { ask, api, told, clock, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 429, headers: { 'retry-after': '20' } }, {}],
    });
    clock.stop();
    const first = ask();
    await told('integration.paused');
    const held = ask();
    expect((await ask(other).got).status).toBe(200);
    expect((await ask({ body: streamed({ model: 'faulty-2' }) }).got).status).toBe(200);
    expect(api.requests).toHaveLength(3);
    clock.skip(20_000);
    expect((await first.got).status).toBe(200);
    expect((await held.got).status).toBe(200);
    expect(of('integration.paused').map(({ integration }) => integration)).toEqual([
      expect.stringMatching(/^model\/faulty-1#[0-9a-f]{6}$/),
    ]);
  });

  it('[E-7] an exhausted quota passes, and for a while the next request learns it without being sent', async () => {
    const { ask, api, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 429, error: 'insufficient_quota', headers: { 'x-mine': 'kept' } }, {}],
    });
    const got = await ask({ path: '/v1/responses' }).got;
    expect(got).toMatchObject({ status: 429, headers: { 'x-mine': 'kept' } });
    expect(await ask({ path: '/v1/responses' }).got).toMatchObject({ status: 429, text: got.text });
    expect(api.requests).toHaveLength(1);
    expect((await ask({ path: '/v1/responses', ...other }).got).status).toBe(200);
    expect(of('breaker.opened')[0]?.integration).toMatch(/^model\/faulty-1#/);
  });

  it.each([
    [{ until: 'text', then: 'reset' }, 'transient'],
    [{ until: 'text', then: 'end' }, 'transient'],
    [{ until: 'text', then: 'error' }, 'overloaded'],
  ] as const)('[E-7] a stream that breaks in the middle counts against the upstream: %j', async (answer, kind) => {
    const { ask, of } = await startApiProxy({ script: [answer], policy: opening });
    for (let count = 0; count < 3; count++) await ask({ path: `/${count}/v1/messages` }).got;
    expect(of('breaker.opened')).toMatchObject([{ integration: 'model', kind }]);
  });

  it('[E-7] an error in the middle that is of a key does not count against the upstream', async () => {
    const limit = { until: 'text', then: 'error', error: 'rate_limit_error' } as const;
    const { ask, of } = await startApiProxy({ script: [limit], policy: opening });
    for (let count = 0; count < 4; count++) await ask({ path: `/${count}/v1/messages` }).got;
    expect(of('call.failed').map(({ failure }) => failure.kind)).toEqual(Array(4).fill('rate_limit'));
    expect(of('breaker.opened')).toEqual([]);
  });

  it('[E-7] what is wrong with requests counts against nobody', async () => {
    const { ask, of, registry } = await startApiProxy({ script: [{ do: 'refuse', status: 400 }], policy: opening });
    for (let count = 0; count < 5; count++) expect((await ask().got).status).toBe(400);
    expect(of('breaker.opened')).toEqual([]);
    expect(registry.status().integrations.find((each) => each.integration === 'model')).toMatchObject({
      state: 'idle',
    });
  });

  it('[E-7] with a fallback an open circuit sends requests there, with the key that is given for it', async () => {
    const second = await faultyModelApi([{ text: 'from the second' }]);
    onTestFinished(() => second.close());
    const { ask, api, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 529 }],
      policy: { ...opening, breaker: { consecutiveFailures: 3 } },
      fallback: second.url,
      fallbackKey: 'key-of-the-second',
    });
    expect((await ask().got).text).toContain('second');
    expect(api.requests).toHaveLength(3);
    expect((await ask({ headers: { authorization: 'Bearer mine' } }).got).text).toContain('second');
    expect(api.requests).toHaveLength(3);
    expect(second.requests.map(({ headers }) => headers['x-api-key'])).toEqual([
      'key-of-the-second',
      'key-of-the-second',
    ]);
    expect(second.requests[1]?.headers.authorization).toBe('Bearer key-of-the-second');
    expect(of('call.fell_back')[0]?.integration).toMatch(/^model:fallback\/faulty-1#/);
  });

  it('[E-7] with a fallback a request that is wrong is still answered by the first', async () => {
    const second = await faultyModelApi([{}]);
    onTestFinished(() => second.close());
    const { ask } = await startApiProxy({
      script: [{ do: 'refuse', status: 400 }],
      fallback: second.url,
      fallbackKey: 'other',
    });
    expect((await ask().got).status).toBe(400);
    expect(second.requests).toEqual([]);
  });

  it('[E-7] [R-15] what an answer tells of the limits of its key holds back the next request of it, and nobody else', async () => {
    const reset = new Date(Date.now() + 60_000).toISOString();
    const { ask, api, clock, registry } = await startApiProxy({
      script: [
        {
          do: 'refuse',
          status: 400,
          headers: {
            'anthropic-ratelimit-requests-limit': '1',
            'anthropic-ratelimit-requests-remaining': '0',
            'anthropic-ratelimit-requests-reset': reset,
          },
        },
        {},
      ],
    });
    clock.stop();
    expect((await ask().got).status).toBe(400);
    const held = ask();
    expect((await ask(other).got).status).toBe(200);
    expect(api.requests).toHaveLength(2);
    expect(registry.status().integrations.find((each) => each.waiting > 0)?.integration).toMatch(/^model\/faulty-1#/);
    clock.skip(70_000);
    expect((await held.got).status).toBe(200);
  });

  it('[E-7] an operator can restart it by its name, which closes its circuit', async () => {
    const { ask, api, registry, told } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 3 }, {}],
      policy: { ...opening, breaker: { consecutiveFailures: 3, resetTimeoutMs: 3_600_000 } },
    });
    expect((await ask().got).status).toBe(529);
    await told('breaker.opened');
    expect(registry.status().integrations.map((each) => each.integration)).toEqual([
      'model',
      expect.stringMatching(/^model\//),
    ]);
    registry.restart('model');
    expect((await ask().got).status).toBe(200);
    expect(api.requests).toHaveLength(4);
  });

  it('[E-7] a request that is refused while another one tries the circuit learns that, and no time of its end', async () => {
    const { ask, api, told, clock, registry } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 3 }, { do: 'hang' }],
      policy: opening,
      budgetMs: '10s',
    });
    const trying = ask({ body: streamed({ stream: false }) });
    await api.reached(4);
    await told('breaker.half_opened');
    clock.stop();
    const held = ask();
    await underWay(registry, 2);
    for (let seconds = 0; seconds < 12; seconds++) {
      clock.skip(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const got = await held.got;
    expect(got).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-should-retry': 'true' } });
    expect(got.text).toContain('The circuit of model is open: HTTP 529 (overloaded_error); another call tries it now');
    expect(api.requests).toHaveLength(4);
    trying.leave();
  });

  it('[E-7] a request that is held back is no attempt that failed, and leaves nothing when its client goes', async () => {
    const { ask, of, told, clock, registry } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 3 }, { do: 'hang' }],
      policy: { ...opening, breaker: { consecutiveFailures: 3, resetTimeoutMs: 60_000 } },
    });
    const first = ask();
    await told('breaker.opened');
    const held = ask(other);
    await underWay(registry, 2);
    clock.stop();
    clock.skip(5000);
    clock.skip(5000);
    held.leave();
    expect((await told('call.failed')).failure).toMatchObject({ kind: 'cancelled', attempts: 1 });
    expect(of('call.retried')).toHaveLength(3);
    first.leave();
    await told('call.failed', 2);
    expect(of('breaker.opened')).toHaveLength(1);
    clock.skip(60_000);
    expect(of('breaker.half_opened')).toEqual([]);
  });

  it('[E-7] each of ten refusals in a row costs the client less than ten seconds', async () => {
    const { ask, api, told, clock, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 10 }, {}],
      policy: {},
    });
    clock.stop();
    const asking = ask();
    for (let count = 1; count <= 10; count++) {
      await told('call.retried', count);
      clock.skip(10_000);
      await api.reached(count + 1);
    }
    expect((await asking.got).status).toBe(200);
    expect(Math.max(...of('breaker.opened').map(({ openForMs }) => openForMs))).toBe(8000);
  });

  it('[E-7] a wait that an answer tells is told as what is left of it, when that answer passes later', async () => {
    const { ask, clock, told } = await startApiProxy({
      script: [
        { do: 'refuse', status: 529, headers: { 'retry-after': '50', 'retry-after-ms': '50000', constructor: '7' } },
        { do: 'reset' },
      ],
      policy: { maxAttempts: 2, retry: { backoff: { kind: 'constant', delayMs: 1 } } },
    });
    clock.stop();
    const asking = ask();
    await told('call.retried');
    clock.skip(50_000);
    expect(await asking.got).toMatchObject({
      status: 529,
      headers: { 'retry-after': '1', 'retry-after-ms': '1', constructor: '7' },
    });
  });

  it('[E-7] other proxies wait for a probe no longer than one can take, also where its proxy has vanished', async () => {
    const { ask, api, registry, clock } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 3 }, { do: 'hang' }],
      policy: opening,
    });
    const asking = ask();
    await api.reached(4);
    const breakers = registry.runtime.store()?.breakers;
    const generation = breakers?.load('model')?.generation ?? 0;
    const mayTry = (afterMs: number) =>
      breakers?.claimProbe('model', generation, 'another', 600_000, clock.wallNow() + afterMs);
    // Two minutes for its headers, five for its first content.
    expect(mayTry(420_000)).toBe(false);
    expect(mayTry(430_000)).toBe(true);
    asking.leave();
  });

  it('[E-7] with a fallback half of the budget is for the first upstream, and the rest for the other', async () => {
    const second = await faultyModelApi([{ text: 'from the second' }]);
    onTestFinished(() => second.close());
    const { ask, api, clock } = await startApiProxy({
      script: [{ do: 'hang' }],
      fallback: second.url,
      fallbackKey: 'other',
    });
    clock.stop();
    const asking = ask();
    await api.reached(1);
    clock.skip(120_000);
    expect((await asking.got).text).toContain('second');
    expect(api.requests).toHaveLength(1);
  });

  it('[E-7] [I-3] a request that is held back when the proxy stops gets its answer, and nothing is left', async () => {
    const { ask, told, registry } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, times: 3 }, { do: 'hang' }],
      policy: { ...opening, breaker: { consecutiveFailures: 3, resetTimeoutMs: 60_000 } },
    });
    const asking = ask();
    await told('breaker.opened');
    await underWay(registry, 1);
    await registry.stop({ drainMs: 20 });
    expect((await asking.got).status).toBe(529);
    expect(registry.stopped).toBe(true);
  });
});
