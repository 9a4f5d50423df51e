import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferred, isSettled } from '../../support/deferred.ts';
import { cut, makeGateway, refused, startBusy } from '../startDraining.ts';

describe('a gateway that drains', () => {
  it('[I-1] lets the call that is in flight end, then stops', async () => {
    const { gateway, clock, call, answer } = await startBusy();
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(9_999);
    expect(await isSettled(stopped)).toBe(false);
    answer.resolve('answered');
    expect(await call).toEqual({ ok: true, value: 'answered' });
    await clock.advance(0);
    await stopped;
    expect(clock.pending).toBe(0);
  });

  it('[I-1] cuts what is left when its time is over, once', async () => {
    const { gateway, clock, call } = await startBusy();
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(9_999);
    expect(await isSettled(call)).toBe(false);
    await clock.advance(1);
    expect(await call).toMatchObject(cut);
    await stopped;
  });

  it('[I-1] cuts at once without drainMs, and with 0', async () => {
    for (const options of [undefined, {}, { drainMs: 0 }]) {
      const { gateway, call } = await startBusy();
      const stopped = gateway.stop(options);
      expect(await call).toMatchObject(cut);
      await stopped;
    }
  });

  it('[I-1] cuts at once as the handler of a signal, which is called with its name', async () => {
    const { gateway, call } = await startBusy();
    const signals = new EventEmitter();
    const { stop }: { stop(...words: unknown[]): unknown } = gateway;
    signals.once('SIGTERM', stop);
    signals.emit('SIGTERM', 'SIGTERM', 15);
    expect(await call).toMatchObject(cut);
    await gateway.stop();
  });

  it('[I-1] is cut short by a second stop', async () => {
    const { gateway, clock, call } = await startBusy();
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(1);
    expect(await isSettled(call)).toBe(false);
    expect(gateway.stop()).toBe(stopped);
    expect(await call).toMatchObject(cut);
    await stopped;
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it('[I-1] is shortened by a second stop, and never made longer', async () => {
    const { gateway, clock, call } = await startBusy();
    void gateway.stop({ drainMs: 10_000 });
    void gateway.stop({ drainMs: 2_000 });
    void gateway.stop({ drainMs: 60_000 });
    await clock.advance(1_999);
    expect(await isSettled(call)).toBe(false);
    await clock.advance(1);
    expect(await call).toMatchObject(cut);
  });

  it('[I-1] refuses new calls at once, and says that it is stopping', async () => {
    const { gateway, kb, asked } = await startBusy();
    void gateway.stop({ drainMs: 10_000 });
    const outcome = await kb.call('new');
    expect(outcome).toMatchObject(refused);
    expect(outcome).toMatchObject({ failure: { message: 'kb is stopping' } });
    expect(asked()).toBe(1);
  });

  it('[I-1] refuses declarations, sessions and runs of workflows', async () => {
    const { gateway, clock } = makeGateway();
    const workflow = gateway.workflow('report', {
      backends: [{ name: 'one', plan: () => ({ success: true, items: [{ id: 'a', action: 'a' }] }), item: () => 1 }],
    });
    const hanging = gateway.integration('kb', {}, () => new Promise(() => undefined));
    await gateway.start();
    void hanging.call(1);
    void gateway.stop({ drainMs: 10_000 });
    expect(() => gateway.integration('late', {}, () => 1)).toThrow('The gateway is stopping');
    expect(() => gateway.session('late', { onMessage: () => 1 })).toThrow('The gateway is stopping');
    expect(await workflow.run('x').outcome).toMatchObject({ status: 'cancelled', failure: { reason: 'stopped' } });
    await clock.advance(10_000);
  });

  it('[I-3] stops in the next turn when nothing is under way', async () => {
    const { gateway, clock } = makeGateway();
    gateway.integration('kb', {}, () => 1);
    await gateway.start();
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(0);
    await stopped;
    // Later ones find nothing to shorten.
    await gateway.stop({ drainMs: 5_000 });
    expect([clock.now(), clock.pending]).toEqual([0, 0]);
  });

  it('[I-3] stops at once before its start', async () => {
    const { gateway, clock } = makeGateway();
    const kb = gateway.integration('kb', {}, () => 1);
    const call = kb.call(1);
    await gateway.stop({ drainMs: 10_000 });
    expect([clock.now(), await call]).toMatchObject([0, refused]);
  });

  it('[I-1] names an option that is wrong, and goes on', async () => {
    const { gateway, kb, answer } = await startBusy();
    expect(() => gateway.stop({ drainMs: -1 })).toThrow(
      new RangeError('Expected `options.drainMs` to be a duration of at least 0 (ms, or text such as 30s), got -1'),
    );
    expect(() => gateway.stop({ drainMs: Number.POSITIVE_INFINITY })).toThrow('got Infinity');
    expect(() => gateway.stop({ drain: 5 } as never)).toThrow('Unknown option `options.drain`');
    answer.resolve('fine');
    expect(await kb.call(1)).toEqual({ ok: true, value: 'fine' });
  });
});

describe('a gateway that is told to stop by who hears that it stops', () => {
  const limited = (seconds: number): Error =>
    Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': `${seconds}` } });

  it.each([0, 100])('[I-3] ends for both, at the shorter time: %i ms', async (drainMs) => {
    const { gateway, clock } = makeGateway();
    // Waits longer than any drain, and so ends as that begins.
    const kb = gateway.integration('kb', {}, () => Promise.reject(limited(20)));
    const hung = gateway.integration('hung', {}, () => new Promise<string>(() => undefined)).call(1);
    await gateway.start();
    void kb.call(1);
    await clock.advance(0);
    const stops: Promise<void>[] = [];
    gateway.once('call.failed', () => stops.push(gateway.stop({ drainMs })));
    stops.push(gateway.stop({ drainMs: 10_000 }));
    expect(stops).toHaveLength(2);
    await clock.advance(drainMs);
    await Promise.all(stops);
    expect(await hung).toMatchObject(cut);
    expect([clock.now(), clock.pending]).toEqual([drainMs, 0]);
  });

  it('[I-1] [R-2] tells all its parts the shorter time, also those that had not been told the longer one', async () => {
    const { gateway, clock } = makeGateway();
    const long = gateway.integration('long', {}, () => Promise.reject(limited(20)));
    const answer = deferred<never>();
    const short = gateway.integration('short', {}, () => answer.promise);
    await gateway.start();
    void long.call(1);
    const call = short.call(1);
    await clock.advance(0);
    gateway.once('call.failed', () => void gateway.stop({ drainMs: 1_000 }));
    void gateway.stop({ drainMs: 10_000 });
    answer.reject(limited(5));
    await clock.advance(0);
    expect(await isSettled(call)).toBe(true);
  });
});

describe('a call that is cut', () => {
  async function cutTurn(effect: 'readOnly' | 'mutating' | undefined) {
    const { gateway, clock } = makeGateway();
    const kb = gateway.integration('kb', { tools: { find: { effect } } }, () => new Promise(() => undefined));
    const session = gateway.session('agent:main', { onMessage: (_, turn) => turn.tool('kb', 'find') });
    await gateway.start();
    void session.send({ kind: 'user' });
    await clock.advance(0);
    const direct = kb.call({ tool: 'find', input: 1 });
    const stopped = gateway.stop();
    await clock.advance(5_000);
    await clock.advance(1_000);
    await stopped;
    const result = session.history.find(({ type }) => type === 'tool_result');
    return { told: JSON.stringify(result), outcome: await direct };
  }

  it('[G-13] that only reads is not said to have taken effect', async () => {
    const { told, outcome } = await cutTurn('readOnly');
    expect(told).toContain('no answer came; it changes nothing');
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', effect: 'readOnly' } });
  });

  it.each(['mutating', undefined] as const)('[G-13] that is %s may have', async (effect) => {
    const { told, outcome } = await cutTurn(effect);
    expect(told).toMatch(/it may have taken effect(, check before repeating|; it is declared mutating)/);
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown' } });
  });

  it('[R-7] says nothing of its effect when it was not started', async () => {
    const { gateway } = makeGateway();
    const kb = gateway.integration('kb', { effect: 'readOnly' }, () => 1);
    await gateway.start();
    await gateway.stop();
    const outcome = await kb.call(1);
    expect(outcome.ok ? {} : outcome.failure).not.toHaveProperty('effect');
  });
});
