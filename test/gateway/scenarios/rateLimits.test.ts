import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions, type RateOptions } from '../../../src/index.ts';
import { faultyUpstream, SimulatedClock } from '../../../testing/index.ts';
import { hasSqlite, temporaryDirectory } from '../../store/startStore.ts';
import { isSettled } from '../../support/deferred.ts';

const perMin = (requests: number) => ({ requests, perMs: '1m' }) as const;
const ask = (_input: string): string => 'answer';

async function start(options: GatewayOptions, rate: RateOptions<string>) {
  const gateway = createGateway(options);
  const integration = gateway.integration<string, string>('llm', { rate }, ask);
  onTestFinished(() => gateway.stop());
  await gateway.start();
  return { gateway, integration };
}

describe('rate limits of a gateway', () => {
  it('[R-15] learns from each answer of an HTTP API, also a good one, and refuses what would only be refused there', async () => {
    const limited = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:10:00Z',
      date: 'Thu, 01 Jan 2026 00:00:00 GMT',
    };
    const upstream = await faultyUpstream({
      '/v1/chat': [{ headers: limited, body: '{}' }, { body: '{"text":"later"}' }],
    });
    onTestFinished(() => upstream.close());
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock });
    onTestFinished(() => gateway.stop());
    const llm = gateway.http('llm', { baseUrl: `${upstream.url}/v1` });
    const deaf = gateway.http('deaf', { baseUrl: `${upstream.url}/v1`, rate: { learn: false } });
    await gateway.start();
    const request = { method: 'POST', path: '/chat', body: {} };
    expect(await llm.call(request)).toMatchObject({ ok: true });
    expect(await llm.call(request, { overallMs: 5000 })).toMatchObject({
      failure: { kind: 'rate_limit', outcome: 'not_started', retryAfterMs: 12_000 },
    });
    const later = llm.call(request);
    await clock.advance(11_999);
    expect(await isSettled(later)).toBe(false);
    await clock.advance(1);
    expect(await later).toMatchObject({ ok: true });
    expect(llm.breaker.state).toBe('closed');
    expect((await deaf.call(request)).ok && (await deaf.call(request)).ok).toBe(true);
  });

  it.for(hasSqlite ? [10, 100, 1000] : [])(
    '[R-15] holds what an answer told of %i for those that call as it comes, also where the store is a file',
    async (limit) => {
      const window = { ratelimit: '"d";r=0;t=3600', 'ratelimit-policy': `"d";q=${limit};w=3600` };
      const upstream = await faultyUpstream({ '/v1/chat': [{ headers: window, body: '{}' }, { body: '{}' }] });
      onTestFinished(() => upstream.close());
      const gateway = createGateway({ store: join(temporaryDirectory(), 'rates.sqlite') });
      const llm = gateway.http('llm', { baseUrl: `${upstream.url}/v1`, policy: { overallMs: 60_000 } });
      onTestFinished(() => gateway.stop());
      await gateway.start();
      expect(await llm.call({ path: '/chat' })).toMatchObject({ ok: true });
      const burst = await Promise.all(Array.from({ length: 20 }, () => llm.call({ path: '/chat' })));
      expect(burst.filter(({ ok }) => ok)).toEqual([]);
      expect(upstream.requests('/v1/chat')).toBe(1);
    },
  );

  it('[R-15] has a pause that a server asked for hold beside the limit', async () => {
    const busy = {
      status: 429,
      headers: { 'retry-after': '20', 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' },
    };
    const upstream = await faultyUpstream({ '/v1/chat': [busy, { body: '{}' }] });
    onTestFinished(() => upstream.close());
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, random: () => 0.5 });
    onTestFinished(() => gateway.stop());
    const llm = gateway.http('llm', { baseUrl: `${upstream.url}/v1`, rate: perMin(100) });
    const paused = gateway.wait('integration.paused');
    await gateway.start();
    const first = llm.call({ path: '/chat' });
    await paused;
    expect(await llm.call({ path: '/chat' }, { overallMs: 1000 })).toMatchObject({
      failure: { kind: 'rate_limit', retryAfterMs: 20_000, message: 'llm asked not to be called for now' },
    });
    await clock.advance(20_000);
    expect(await first).toMatchObject({ ok: true });
  });

  it('[R-15] settles with what an answer says that it cost, and takes nonsense for no word', async () => {
    const upstream = await faultyUpstream({ '/v1/chat': [{ body: '{"usage":900}' }, { body: '{"usage":"much"}' }] });
    onTestFinished(() => upstream.close());
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock });
    onTestFinished(() => gateway.stop());
    const spent = ({ body }: { readonly body: unknown }): number => (body as { usage: number }).usage;
    const rate = { tokens: 1000, cost: () => 100, spent };
    const llm = gateway.http('llm', { baseUrl: `${upstream.url}/v1`, rate });
    await gateway.start();
    expect(await llm.call({ path: '/chat' })).toMatchObject({ ok: true });
    expect(await llm.call({ path: '/chat' })).toMatchObject({ ok: true });
    expect(await llm.call({ path: '/chat' }, { overallMs: 10 })).toMatchObject({
      failure: { kind: 'rate_limit', retryAfterMs: 6000 },
    });
  });

  it('[R-15] is configured by the integration, over what the code says, and keeps the cost of the code', async () => {
    const clock = new SimulatedClock();
    const policies = { integrations: { llm: { rate: { tokens: 10 } } } };
    const { integration } = await start({ clock, policies }, { ...perMin(100), tokens: 1000, cost: () => 6 });
    expect(integration.policy.rate).toEqual({ requests: 100, tokens: 10, perMs: 60_000, learn: true });
    expect(await integration.call('a')).toMatchObject({ ok: true });
    expect(await integration.call('b', { overallMs: 100 })).toMatchObject({
      failure: { kind: 'rate_limit', retryAfterMs: 12_000 },
    });
  });

  it('[R-15] refuses a limit of which nothing says what a call costs, and two keys', () => {
    const gateway = createGateway();
    const http = (rate: object) => () => gateway.http('llm', { baseUrl: 'http://127.0.0.1:9', rate });
    expect(http({ tokens: 5 })).toThrow(
      '`rate.tokens` of `llm` (5) needs `rate.cost`, `rate.spent` or `events.spent`: nothing else says what a call costs',
    );
    expect(http({ costs: { images: 3 } })).toThrow('`rate.costs.images` of `llm` (3)');
    const both = 'Expected either `rate.key` ("team") or `rate.keyOf`, got both';
    const rate = { key: 'team', keyOf: () => 'other' };
    expect(http(rate)).toThrow(both);
    expect(() => gateway.integration('kb', { rate }, ask)).toThrow(both);
  });
});
