import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AttemptError, createGateway } from '../../../src/index.ts';
import { openReader } from '../../../reader/openReader.ts';
import { SimulatedClock } from '../../../testing/index.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../../store/startStore.ts';

/** A gateway with one integration that does what it is asked to. */
async function start() {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock });
  onTestFinished(() => gateway.stop());
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimeout(resolve, ms);
    });
  const policy = { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 10 } } } as const;
  const kb = gateway.integration(
    'kb',
    { policy, effect: 'readOnly' },
    async (input: { readonly ms?: number; readonly fails?: number }, { attempt }) => {
      if (input.ms !== undefined) await wait(input.ms);
      if (attempt <= (input.fails ?? 0))
        throw new AttemptError({ kind: 'transient', message: 'no', outcome: 'failed' });
      return 'answer';
    },
  );
  await gateway.start();
  const call = async (input: Parameters<typeof kb.call>[0], options = {}) => {
    const outcome = kb.call(input, options);
    await clock.advance(1000);
    return outcome;
  };
  return { gateway, clock, kb, call };
}

describe('the report of a gateway', () => {
  it('[O-10] says of each integration how many calls succeeded, failed and were refused, and how long they took', async () => {
    const { gateway, kb, call } = await start();
    for (let count = 0; count < 8; count++) await call({ ms: 100 });
    await call({ ms: 800 });
    await call({ fails: 1 });
    await call({ fails: 2 });
    const release = kb.breaker.isolate();
    await call({});
    release();
    const [line] = await gateway.report();
    expect(line).toMatchObject({
      integration: 'kb',
      calls: 11,
      successRate: 10 / 11,
      failures: { transient: 1 },
      refused: 1,
      retries: 2,
      tools: [],
    });
    expect(Math.abs((line?.took?.p50Ms ?? 0) - 100)).toBeLessThan(7);
    expect(Math.abs((line?.took?.p99Ms ?? 0) - 800)).toBeLessThan(50);
  });

  it('[O-10] counts an answer of a fallback as a failure of the integration that was made good', async () => {
    const { gateway, call } = await start();
    await call({ fails: 2 }, { fallback: () => 'instead' });
    expect((await gateway.report())[0]).toMatchObject({
      calls: 1,
      successRate: 0,
      fellBack: 1,
      failures: { transient: 1 },
    });
  });

  it('[O-10] counts a refusal once, also where a fallback answers in its place', async () => {
    const { gateway, kb, call } = await start();
    kb.breaker.isolate();
    await call({}, { fallback: () => 'instead' });
    expect((await gateway.report())[0]).toMatchObject({ calls: 0, fellBack: 0, refused: 1, failures: {} });
  });

  it.skipIf(!hasSqlite)(
    '[O-10] [O-3] counts what alerts and the status count: calls whose attempts opened the circuit, or whose probe failed, and no refusal',
    async () => {
      const path = join(temporaryDirectory(), 'counts.sqlite');
      const gateway = createGateway({ store: path, control: false });
      onTestFinished(() => gateway.stop());
      const kb = gateway.integration('kb', { policy: { breaker: { consecutiveFailures: 1 } } }, () => {
        throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
      });
      await gateway.start();
      const raised = gateway.wait('alert.raised');
      await kb.call({});
      for (let probe = 0; probe < 4; probe++) {
        kb.breaker.probe();
        await kb.call({});
      }
      const { attempts } = await kb.call({}).then((ended) => (ended.ok ? { attempts: -1 } : ended.failure));
      expect(attempts).toBe(0);
      expect(await raised).toMatchObject({ failures: 5, kind: 'transient' });
      expect(await gateway.report()).toMatchObject([
        { calls: 5, successRate: 0, failures: { transient: 5 }, refused: 1 },
      ]);
      await gateway.stop();
      const reader = await openReader(path);
      onTestFinished(() => reader.close());
      const { integrations } = await reader.status(Date.now());
      const lastError = { kind: 'transient', error: 'down' };
      expect(integrations).toMatchObject([{ failures10m: 5, failures24h: 5, lastError }]);
    },
  );

  it('[O-10] has the first chunk of what was read as a stream', async () => {
    const { gateway, clock } = await start();
    const letters = gateway.integration('letters', {}, async function* () {
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, 200);
      });
      yield 'a';
    });
    const { chunks, outcome } = letters.stream(undefined);
    const read = (async () => {
      const all: unknown[] = [];
      for await (const chunk of chunks) all.push(chunk);
      return all;
    })();
    await clock.advance(1000);
    expect([await read, await outcome]).toMatchObject([['a'], { ok: true }]);
    const [line] = await gateway.report();
    expect(line).toMatchObject({ integration: 'letters', calls: 1 });
    expect(Math.abs((line?.firstChunk?.p50Ms ?? 0) - 200)).toBeLessThan(13);
  });

  it('[O-10] is of the time that is asked for, and refuses a wrong one', async () => {
    const { gateway, clock, call } = await start();
    await call({});
    await clock.advance(3_600_000);
    expect(await gateway.report({ sinceMs: '30m' })).toEqual([]);
    expect(await gateway.report({ sinceMs: '2h' })).toHaveLength(1);
    await expect(gateway.report({ sinceMs: -1 })).rejects.toThrow('`report.sinceMs`');
  });

  it('[O-10] hands its figures to the store every 10 s, and has no timer where nobody calls', async () => {
    const { gateway, clock, call } = await start();
    const before = clock.pending;
    await call({});
    expect(clock.pending).toBe(before + 1);
    expect(await gateway.store?.statistics.read(0)).toEqual([]);
    await clock.advance(10_000);
    expect(clock.pending).toBe(before);
    expect(await gateway.store?.statistics.read(0)).toHaveLength(1);
  });

  it.skipIf(!hasSqlite)(
    '[O-10] has what was counted up to the stop in its file, and reads a damaged row as nothing',
    async () => {
      const path = join(temporaryDirectory(), 'report.sqlite');
      const gateway = createGateway({ store: path, control: false });
      const kb = gateway.integration('kb', {}, () => 'answer');
      await gateway.start();
      await kb.call(undefined);
      await gateway.stop();
      const reader = await openReader(path);
      onTestFinished(() => reader.close());
      expect(await reader.statistics(0)).toMatchObject([{ integration: 'kb', succeeded: 1 }]);
      openDatabase(path).exec(`UPDATE unwedge_statistics SET figures = '{"succeeded":"many"}'`);
      expect(await reader.statistics(0)).toMatchObject([{ integration: 'kb', succeeded: 0, took: [] }]);
    },
  );
});
