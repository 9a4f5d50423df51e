import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway, type HttpIntegration } from '../../../src/index.ts';
import { faultyUpstream } from '../../../testing/index.ts';
import { hasSqlite, temporaryDirectory } from '../../store/startStore.ts';
import { SkippingClock } from '../../support/skippingClock.ts';

const down = { status: 500, body: 'down' };
const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, resetTimeoutMs: '30s' } } as const;

/** Gateways with one store, on one clock, that call one API by the same name. */
async function start(script: Parameters<typeof faultyUpstream>[0]) {
  const upstream = await faultyUpstream(script);
  onTestFinished(() => upstream.close());
  const clock = new SkippingClock();
  clock.stop();
  const gateways: Gateway[] = [];
  /** What has been written is committed before. */
  const skip = async (ms: number): Promise<void> => {
    for (const { store: opened } of gateways) await opened?.flush();
    clock.skip(ms);
  };
  const store = join(temporaryDirectory(), 'shared.sqlite');
  const one = async (): Promise<{ gateway: Gateway; llm: HttpIntegration; told: string[]; facts: string[] }> => {
    const gateway = createGateway({ clock, store, control: false });
    gateways.push(gateway);
    onTestFinished(() => gateway.stop());
    const llm = gateway.http('llm', { baseUrl: upstream.url, policy });
    const told: string[] = [];
    const facts: string[] = [];
    gateway.on('breaker.adopted', ({ state, forMs, rule, cause }) =>
      told.push([state, Math.ceil((forMs ?? 0) / 1000), ...(rule === undefined ? [] : [rule.name]), cause].join(' ')),
    );
    gateway.on('*', ({ type }) => facts.push(type));
    await gateway.start();
    return { gateway, llm, told, facts };
  };
  return { upstream, skip, one };
}

const ask = { method: 'POST', path: '/chat', body: {} } as const;

describe.skipIf(!hasSqlite)('circuits of gateways that share a store and an API', () => {
  it('[E-7] open in all within a second, and are probed once for all', async () => {
    const { upstream, skip, one } = await start({ '/chat': [down, down, { body: '{}' }] });
    const [first, second] = [await one(), await one()];
    await first.llm.call(ask);
    await first.llm.call(ask);
    expect([first.llm.breaker.state, second.llm.breaker.state]).toEqual(['open', 'closed']);
    await skip(1000);
    expect(second.llm.breaker.state).toBe('open');
    expect(second.told).toEqual([expect.stringMatching(/^open 29 consecutive_failures .*500/)]);
    expect(await second.llm.call(ask)).toMatchObject({
      failure: { kind: 'circuit_open', message: expect.stringContaining('500') as string },
    });
    // That of the process that saw it happen is the only one.
    expect(second.facts).not.toContain('breaker.opened');
    expect(first.told).toEqual([]);
    await skip(29_000);
    expect(await second.llm.call(ask)).toMatchObject({ ok: true });
    expect(first.llm.breaker.state).toBe('open');
    await skip(1000);
    expect(first.llm.breaker.state).toBe('closed');
    expect(first.told).toEqual(['closed 0 ']);
    expect(await first.llm.call(ask)).toMatchObject({ ok: true });
    expect(upstream.requests('/chat')).toBe(4);
  });

  it('[E-7] has a further opening of a probe elsewhere hold as well', async () => {
    const { skip, one } = await start({ '/chat': [down] });
    const [first, second] = [await one(), await one()];
    await first.llm.call(ask);
    await first.llm.call(ask);
    await skip(30_000);
    expect(await second.llm.call(ask)).toMatchObject({ failure: { kind: 'transient' } });
    await skip(1000);
    expect(first.told).toEqual([expect.stringMatching(/^open \d+ /)]);
    expect(await first.llm.call(ask)).toMatchObject({ failure: { kind: 'circuit_open' } });
  });

  it('[E-7] hears of a pause that another was asked for, and of none that is over', async () => {
    const busy = { status: 429, headers: { 'retry-after': '20' }, body: '' };
    const { upstream, skip, one } = await start({ '/chat': [busy, { body: '{}' }] });
    const [first, second] = [await one(), await one()];
    await first.llm.call(ask);
    await skip(1000);
    expect(second.told).toEqual(['paused 19 ']);
    expect(await second.llm.call(ask, { overallMs: 5000 })).toMatchObject({ failure: { kind: 'rate_limit' } });
    const third = await one();
    expect(await third.llm.call(ask, { overallMs: 5000 })).toMatchObject({ failure: { kind: 'rate_limit' } });
    await skip(19_000);
    expect(await second.llm.call(ask)).toMatchObject({ ok: true });
    expect(upstream.requests('/chat')).toBe(2);
    const fourth = await one();
    await skip(1000);
    expect(await fourth.llm.call(ask)).toMatchObject({ ok: true });
    expect(fourth.told).toEqual([]);
  });
});
