import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { workflowKind } from '../../../workflow/workflow.ts';
import { createGateway, type Outcome, unwrap } from '../../../src/index.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { fault } from '../../support/startIntegration.ts';
import { makeGateway, refused, startBusy } from '../startDraining.ts';

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
      { policy: { maxAttempts: 1, attemptMs: 1_000 } },
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
    const gateway = createGateway({ kinds: [workflowKind] });
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
