import { describe, expect, it } from 'vitest';
import { deferred, isSettled } from '../../support/deferred.ts';
import { fault } from '../../support/startIntegration.ts';
import { makeGateway, refused } from '../startDraining.ts';

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
