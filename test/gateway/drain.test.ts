import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions, type Outcome, unwrap } from '../../src/index.ts';
import { SimulatedClock } from '../../src/testing/simulatedClock.ts';
import { hasSqlite } from '../store/startStore.ts';
import { deferred, isSettled } from '../support/deferred.ts';
import { fault } from '../support/startIntegration.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const refused = { ok: false, failure: { kind: 'cancelled', reason: 'stopped', outcome: 'not_started', attempts: 0 } };
const cut = { ok: false, failure: { kind: 'cancelled', reason: 'stopped', outcome: 'cancelled', attempts: 1 } };

function makeGateway(options: GatewayOptions = {}) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, ...options });
  onTestFinished(() => gateway.stop());
  return { gateway, clock };
}

/** A gateway with a call that is in flight until the test answers it. */
async function startBusy() {
  const { gateway, clock } = makeGateway();
  const answer = deferred<string>();
  let asked = 0;
  const kb = gateway.integration('kb', { effect: 'readOnly' }, () => {
    asked++;
    return answer.promise;
  });
  await gateway.start();
  const call = kb.call('under way');
  return { gateway, clock, kb, call, answer, asked: () => asked };
}

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
      new RangeError('Expected `options.drainMs` to be a finite number of at least 0, got -1'),
    );
    expect(() => gateway.stop({ drainMs: Number.POSITIVE_INFINITY })).toThrow('got Infinity');
    expect(() => gateway.stop({ drain: 5 } as never)).toThrow('Unknown option `options.drain`');
    answer.resolve('fine');
    expect(await kb.call(1)).toEqual({ ok: true, value: 'fine' });
  });
});

describe('a retry while the gateway drains', () => {
  async function startFailing(answers: (string | Error)[]) {
    const { gateway, clock } = makeGateway();
    const kb = gateway.integration('kb', { effect: 'readOnly' }, () => {
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    });
    await gateway.start();
    return { gateway, clock, call: kb.call('ask') };
  }
  const lost = (): Error => fault('transient');

  it('[R-2] is made where its wait fits', async () => {
    const { gateway, clock, call } = await startFailing([lost(), 'answered']);
    const stopped = gateway.stop({ drainMs: 1_001 });
    await clock.advance(1_000);
    expect(await call).toEqual({ ok: true, value: 'answered' });
    await clock.advance(0);
    await stopped;
  });

  it('[R-2] is not waited for where its wait does not fit: the call ends as it failed last', async () => {
    const { gateway, clock, call } = await startFailing([lost(), 'answered']);
    const stopped = gateway.stop({ drainMs: 1_000 });
    await clock.advance(0);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'transient', reason: 'stopped', attempts: 1 } });
    await stopped;
    expect(clock.now()).toBe(0);
  });

  it('[R-2] is not waited for either when the attempt before it fails only then', async () => {
    const { gateway, clock, call } = await startFailing([lost(), lost(), 'answered']);
    void gateway.stop({ drainMs: 2_500 });
    await clock.advance(1_000);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'transient', reason: 'stopped', attempts: 2 } });
    expect(clock.now()).toBe(1_000);
  });

  it('[R-2] is not made in the moment in which the rest is cut, but 1 ms before', async () => {
    for (const [drainMs, attempts] of [
      [3_000, 2],
      [3_001, 3],
    ] as const) {
      const { gateway, clock, call } = await startFailing([lost(), lost(), lost(), lost()]);
      void gateway.stop({ drainMs });
      await clock.advance(3_000);
      expect(await call).toMatchObject({ failure: { kind: 'transient', reason: 'stopped', attempts } });
    }
  });

  it('[M-13] is not waited for behind a pause that begins meanwhile', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    const limited = Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '20' } });
    gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => Promise.reject(limited));
    const session = gateway.session('agent:main', {
      onMessage: async (_, turn) => {
        await go.promise;
        return [await turn.tool('kb', 'one'), await turn.tool('kb', 'two')];
      },
    });
    await gateway.start();
    const sent = await session.send({ kind: 'user' });
    await clock.advance(0);
    const stopped = gateway.stop({ drainMs: 10_000 });
    go.resolve(undefined);
    await clock.advance(0);
    expect(sent.accepted && (await sent.processed)).toMatchObject({
      value: [{ status: 'error' }, { status: 'error' }],
    });
    await clock.advance(0);
    await stopped;
    expect(clock.now()).toBe(0);
  });

  it('[M-13] is not waited for behind a pause that is longer: a call that was never tried is refused', async () => {
    const { gateway, clock } = makeGateway();
    const limited = Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '20' } });
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => Promise.reject(limited));
    await gateway.start();
    await kb.call(1);
    const waiting = kb.call(2);
    await clock.advance(0);
    expect(await isSettled(waiting)).toBe(false);
    void gateway.stop({ drainMs: 10_000 });
    expect(await waiting).toMatchObject(refused);
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

describe('what a turn does while the gateway drains', () => {
  it('[I-2] goes on: it calls tools, directly too, and ends; the next message is not begun', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    const kb = gateway.integration('kb', {}, ({ input }: { input: unknown }) => input);
    const begun: unknown[] = [];
    const session = gateway.session('agent:main', {
      onMessage: async ({ text }, turn) => {
        begun.push(text);
        await go.promise;
        const tool = await turn.tool('kb', 'echo', 'by tool');
        const direct = await kb.call({ input: 'direct' }, { signal: turn.signal });
        return [tool, direct];
      },
    });
    await gateway.start();
    const [first, second] = await Promise.all([
      session.send({ kind: 'user', text: '1' }),
      session.send({ kind: 'user', text: '2' }),
    ]);
    await clock.advance(0);
    const stopped = gateway.stop({ drainMs: 10_000 });
    expect(await session.send({ kind: 'user', text: '3' })).toEqual({ accepted: false, reason: 'stopped' });
    await clock.advance(5_000);
    go.resolve(undefined);
    await clock.advance(0);
    expect(first.accepted && (await first.processed)).toEqual({
      ok: true,
      value: [
        { status: 'ok', value: 'by tool', retries: 0 },
        { ok: true, value: 'direct' },
      ],
    });
    expect(second.accepted && (await second.processed)).toMatchObject({
      ok: false,
      failure: { reason: 'stopped', outcome: 'not_started' },
    });
    await clock.advance(0);
    await stopped;
    expect(begun).toEqual(['1']);
  });

  it('[I-2] is waited for though it calls nothing, and no longer than it takes', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    const session = gateway.session('agent:main', { onMessage: () => go.promise });
    await gateway.start();
    void session.send({ kind: 'user' });
    await clock.advance(0);
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(5_000);
    expect(await isSettled(stopped)).toBe(false);
    go.resolve(undefined);
    await clock.advance(0);
    await stopped;
    expect(clock.now()).toBe(5_000);
  });

  it('[I-2] is ended with the rest when the time is over', async () => {
    const { gateway, clock } = makeGateway();
    const session = gateway.session('agent:main', { onMessage: () => new Promise(() => undefined) });
    await gateway.start();
    const sent = await session.send({ kind: 'user' });
    await clock.advance(0);
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(10_000);
    await clock.advance(5_000);
    expect(sent.accepted && (await sent.processed)).toMatchObject({ ok: false, failure: { reason: 'stopped' } });
    await clock.advance(1_000);
    await stopped;
  });
});

describe('what belongs to a call or a run that is under way', () => {
  it('[R-11] is let pass: a fallback to another integration, and a call within a call', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    const other = gateway.integration('other', {}, (input: string) => `other ${input}`);
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, async (input: string, { signal }) => {
      await go.promise;
      if (input === 'fails') throw fault('transient');
      return unwrap(await other.call('within', { signal }));
    });
    await gateway.start();
    const calls = [kb.call('fails', { fallback: { integration: other } }), kb.call('nests')];
    void gateway.stop({ drainMs: 10_000 });
    go.resolve(undefined);
    await clock.advance(0);
    expect(await Promise.all(calls)).toEqual([
      { ok: true, value: 'other fails' },
      { ok: true, value: 'other within' },
    ]);
  });

  it('[R-11] is waited for: a fallback that is at work', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<string>();
    const fails = (): Promise<string> => Promise.reject(fault('transient'));
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, fails);
    await gateway.start();
    const call = kb.call(1, { fallback: () => go.promise });
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(5_000);
    expect(await isSettled(stopped)).toBe(false);
    go.resolve('instead');
    expect(await call).toEqual({ ok: true, value: 'instead' });
    await clock.advance(0);
    await stopped;
  });

  it('[I-1] is refused with the signal of an attempt that has ended', async () => {
    const { gateway, kb } = await startBusy();
    const ended = deferred<AbortSignal>();
    const first = gateway.integration('first', {}, (_: unknown, { signal }) => ended.resolve(signal));
    await first.call(1);
    void gateway.stop({ drainMs: 10_000 });
    expect(await kb.call(1, { signal: await ended.promise })).toMatchObject(refused);
  });

  it('[I-1] is refused with the signal of an attempt that was given up', async () => {
    const { gateway, clock } = makeGateway();
    const other = gateway.integration('other', {}, () => 'answered');
    let late: Promise<Outcome<string>> | undefined;
    const kb = gateway.integration(
      'kb',
      { policy: { maxAttempts: 1, timeoutMs: 1_000 } },
      async (_: unknown, { signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
        late = other.call(1, { signal });
      },
    );
    await gateway.start();
    const call = kb.call(1);
    const stopped = gateway.stop({ drainMs: 10_000 });
    await clock.advance(1_000);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
    expect(await late).toMatchObject({ ok: false, failure: { kind: 'cancelled', outcome: 'not_started' } });
    await clock.advance(0);
    await stopped;
  });

  it('[W-4] is let pass: a run goes on with its items, and with its next backend', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    const plan = () => ({ success: true, items: ['a', 'b'].map((id) => ({ id, action: id })) });
    const workflow = gateway.workflow('report', {
      concurrency: 1,
      backends: [
        { name: 'one', plan: () => go.promise.then(() => ({ success: false, items: [] })), item: () => 'never' },
        { name: 'two', plan, item: ({ id }) => id },
      ],
    });
    await gateway.start();
    const run = workflow.run('x');
    await clock.advance(0);
    const stopped = gateway.stop({ drainMs: 10_000 });
    go.resolve(undefined);
    await clock.advance(0);
    expect(await run.outcome).toMatchObject({ status: 'succeeded', backend: 'two' });
    await clock.advance(0);
    await stopped;
    expect(clock.now()).toBe(0);
  });

  it('[W-4] is waited for: a run that has yet to be loaded', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    await gateway.start();
    const plan = () => ({ success: true, items: [{ id: 'a', action: 'a' }] });
    const workflow = gateway.workflow('late', { backends: [{ name: 'one', plan, item: ({ id }) => id }] });
    const run = workflow.run('x');
    const stopped = gateway.stop({ drainMs: 600_000 });
    expect(await run.outcome).toMatchObject({ status: 'succeeded' });
    await stopped;
  });

  it('[H-1] is let pass: a hook', async () => {
    const { gateway, clock } = makeGateway();
    const go = deferred<undefined>();
    gateway.hook('PreToolUse', () => ({ decision: 'block', reason: 'no' }), { name: 'guard' });
    const kb = gateway.integration('kb', {}, async () => {
      await go.promise;
      return gateway.runHooks({ event: 'PreToolUse' });
    });
    await gateway.start();
    const call = kb.call(1);
    void gateway.stop({ drainMs: 10_000 });
    go.resolve(undefined);
    await clock.advance(0);
    expect(await call).toMatchObject({ ok: true, value: { decision: 'block', reason: 'no' } });
  });

  it('[O-3] is let pass: the delivery of an alert, which is waited for', async () => {
    const posted: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (data) => posted.push(String(data))).on('end', () => response.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = createGateway({ alerts: { failures: 1, webhook: { url } } });
    onTestFinished(() => gateway.stop());
    const go = deferred<never>();
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => go.promise);
    await gateway.start();
    void kb.call(1);
    const stopped = gateway.stop({ drainMs: 600_000 });
    go.reject(fault('transient'));
    await stopped;
    expect(posted.map((each) => JSON.parse(each) as unknown)).toMatchObject([
      { type: 'alert.raised', integration: 'kb' },
    ]);
  });
});

describe.skipIf(!hasSqlite)('a session that is kept while its gateway drains', () => {
  const start = async (store: string, onMessage: Parameters<ReturnType<typeof createGateway>['session']>[1]) => {
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    const session = gateway.session('agent:main', onMessage);
    await gateway.start();
    return { gateway, session };
  };

  it('[I-5] has the messages that were not begun at the next start, and not the one that ended', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const [begun, go] = [deferred<undefined>(), deferred<undefined>()];
    const first = await start(store, {
      onMessage: () => {
        begun.resolve(undefined);
        return go.promise;
      },
    });
    for (const text of ['1', '2', '3'])
      expect(await first.session.send({ kind: 'user', text })).toMatchObject({ durable: true });
    await begun.promise;
    const stopped = first.gateway.stop({ drainMs: 600_000 });
    go.resolve(undefined);
    await stopped;
    const again: (string | undefined)[] = [];
    const all = deferred<undefined>();
    await start(store, {
      onMessage: ({ text }) => {
        if (again.push(text) === 2) all.resolve(undefined);
      },
    });
    await all.promise;
    expect(again).toEqual(['2', '3']);
  });

  it('[I-5] begins a message again whose turn ended for want of what is refused by now', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const [begun, go] = [deferred<undefined>(), deferred<undefined>()];
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', {}, () => 'answered');
    const session = gateway.session('agent:main', {
      onMessage: async () => {
        begun.resolve(undefined);
        await go.promise;
        return unwrap(await kb.call('without a signal'));
      },
    });
    await gateway.start();
    await session.send({ kind: 'user', text: 'again' });
    await begun.promise;
    const stopped = gateway.stop({ drainMs: 600_000 });
    go.resolve(undefined);
    await stopped;
    const texts = deferred<string | undefined>();
    await start(store, { onMessage: ({ text }) => texts.resolve(text) });
    expect(await texts.promise).toBe('again');
  });

  it('[I-5] does not begin a message again whose turn failed by itself', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const [begun, go] = [deferred<undefined>(), deferred<undefined>()];
    const first = await start(store, {
      onMessage: async () => {
        begun.resolve(undefined);
        await go.promise;
        throw new Error('of its own');
      },
    });
    await first.session.send({ kind: 'user', text: 'failed' });
    await begun.promise;
    const stopped = first.gateway.stop({ drainMs: 600_000 });
    go.resolve(undefined);
    await stopped;
    const texts: (string | undefined)[] = [];
    const second = await start(store, { onMessage: ({ text }) => void texts.push(text) });
    const last = await second.session.send({ kind: 'user', text: 'new' });
    if (last.accepted) await last.processed;
    expect(texts).toEqual(['new']);
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
    expect(told).toContain('it was ended before an answer came; it changes nothing');
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'cancelled', effect: 'readOnly' } });
  });

  it.each(['mutating', undefined] as const)('[G-13] that is %s may have', async (effect) => {
    const { told, outcome } = await cutTurn(effect);
    expect(told).toContain('it may have taken effect, check before repeating');
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'cancelled' } });
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
