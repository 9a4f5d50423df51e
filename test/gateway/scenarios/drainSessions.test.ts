import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, unwrap } from '../../../src/index.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { makeGateway } from '../startDraining.ts';

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
    await clock.advance(4_000);
    // A second stop that makes it shorter is the same stop.
    void gateway.stop({ drainMs: 5_000 });
    await clock.advance(1_000);
    expect(session.why().stopping).toEqual({ inMs: 4_000, sinceMs: 5_000 });
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
