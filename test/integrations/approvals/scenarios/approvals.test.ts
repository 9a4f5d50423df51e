import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApprovalHandler,
  type ApprovalOptions,
  createGateway,
  type Fact,
  type FactType,
} from '../../../../src/index.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { deferred, isSettled } from '../../../support/deferred.ts';

async function startApproval(handler: ApprovalHandler, options?: ApprovalOptions) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:' });
  onTestFinished(() => gateway.stop());
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  const approve = gateway.approval('bash', handler, options);
  await gateway.start();
  return { gateway, clock, approve, of: (type: FactType) => facts.filter((fact) => fact.type === type) };
}

const request = { action: 'rm -r build', session: 'agent:main', payload: { cwd: '/work' } };

describe('an approval of a gateway', () => {
  it('[H-4] is what its handler answers, in a word or with a reason', async () => {
    const { approve, of } = await startApproval(({ payload }) => ({
      decision: (payload as { cwd: string }).cwd === '/work' ? 'accept' : 'decline',
      reason: 'by its directory',
    }));
    expect(await approve(request)).toMatchObject({ decision: 'accept', reason: 'by its directory' });
    expect(await approve({ ...request, payload: { cwd: '/' } })).toMatchObject({ decision: 'decline' });
    expect(of('approval.completed')).toMatchObject([
      { approval: 'bash', action: 'rm -r build', session: 'agent:main', decision: 'accept', by: 'answer' },
      { decision: 'decline', by: 'answer' },
    ]);
    const word = await startApproval(() => 'accept');
    expect(await word.approve(request)).toMatchObject({ decision: 'accept', value: 'accept' });
  });

  it('[H-4] is declined when nobody answers for 30 s; the signal tells the handler, and its late answer is on record only', async () => {
    const late = deferred<string>();
    let signal: AbortSignal | undefined;
    const { approve, clock, of } = await startApproval((_request, context) => {
      signal = context.signal;
      return late.promise;
    });
    const answer = approve(request);
    await clock.advance(29_999);
    expect(await isSettled(answer)).toBe(false);
    await clock.advance(1);
    expect(await answer).toMatchObject({ decision: 'decline', failure: 'timeout', reason: 'Nobody answered in time' });
    expect(signal?.aborted).toBe(true);
    await clock.advance(5);
    late.resolve('accept');
    await clock.settle();
    expect(of('approval.failed')).toMatchObject([{ failure: 'timeout', elapsedMs: 30_000 }]);
    expect(of('approval.late')).toMatchObject([{ approval: 'bash', decision: 'accept', lateByMs: 5 }]);
    expect(of('approval.completed')).toEqual([]);
  });

  it('[H-4] [I-4] is declined when its handler throws or rejects, with a record and its stack', async () => {
    const { approve, gateway } = await startApproval(({ action }) => {
      if (action === 'throw') throw new Error('handler bug');
      return Promise.reject(new Error('handler rejection'));
    });
    expect(await approve({ action: 'throw' })).toMatchObject({ decision: 'decline', failure: 'crash' });
    expect(await approve({ action: 'reject' })).toMatchObject({ decision: 'decline', failure: 'crash' });
    expect(await gateway.store?.read({ category: 'approval', failed: true, limit: 10 })).toMatchObject([
      {
        type: 'failed',
        metadata: { failure: 'crash', error: 'handler bug', stack: expect.stringContaining('handler bug') as string },
      },
      { metadata: { error: 'handler rejection' } },
    ]);
  });

  it.each([[undefined], [true], ['yes'], [{ decision: 'acept' }], [{}]])(
    '[H-4] is declined when the answer is %j',
    async (answer) => {
      const { approve, of } = await startApproval(() => answer);
      expect(await approve(request)).toMatchObject({ decision: 'decline', failure: 'unreadable' });
      expect(of('approval.failed')).toMatchObject([{ failure: 'unreadable' }]);
    },
  );

  it('[H-4] is declined when who asked withdraws it, also before it asked', async () => {
    let asked = 0;
    const { approve, of, clock } = await startApproval(() => {
      asked++;
      return new Promise(() => undefined);
    });
    const controller = new AbortController();
    const answer = approve(request, { signal: controller.signal });
    await clock.settle();
    controller.abort();
    expect(await answer).toMatchObject({ decision: 'decline', failure: 'cancelled' });
    expect(await approve(request, { signal: controller.signal })).toMatchObject({ failure: 'cancelled' });
    expect(asked).toBe(1);
    expect(of('approval.completed')).toMatchObject([{ by: 'cancelled' }]);
  });

  it('[H-4] is declined at once before the start, after the stop, and while it stops', async () => {
    const gateway = createGateway({ store: ':memory:' });
    onTestFinished(() => gateway.stop());
    const approve = gateway.approval('bash', () => new Promise(() => undefined));
    expect(await approve(request)).toMatchObject({ decision: 'decline', failure: 'unavailable' });
    await gateway.start();
    const waiting = approve(request);
    await gateway.stop();
    expect(await waiting).toMatchObject({ decision: 'decline', failure: 'stopped' });
    expect(await approve(request)).toMatchObject({ decision: 'decline', failure: 'unavailable' });
  });

  it('[H-4] has the limit it was given, and leaves no child behind', async () => {
    const { approve, clock, gateway } = await startApproval(() => new Promise(() => undefined), { overallMs: 50 });
    const answer = approve(request);
    await clock.advance(50);
    expect(await answer).toMatchObject({ failure: 'timeout' });
    expect(gateway.tree().children?.some(({ id }) => id.startsWith('approval:'))).toBe(false);
  });

  it('[H-4] is declined at once when 1,000 wait already', async () => {
    const { approve, clock } = await startApproval(() => new Promise(() => undefined));
    const waiting = Array.from({ length: 1000 }, () => approve(request));
    expect(await approve(request)).toMatchObject({ decision: 'decline', failure: 'unavailable' });
    await clock.advance(30_000);
    expect(new Set((await Promise.all(waiting)).map(({ failure }) => failure))).toEqual(new Set(['timeout']));
    expect(await isSettled(approve(request))).toBe(false);
  });

  it.each([
    [{ overallMs: 0 }, 'Expected `options.overallMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ timeout: 5 }, 'Unknown option `options.timeout`'],
  ])('refuses %j with an error that names it', async (options, message) => {
    const gateway = createGateway({ store: ':memory:' });
    expect(() => gateway.approval('bash', () => 'accept', options as ApprovalOptions)).toThrow(message);
    expect(() => gateway.approval('bash', () => 'accept')).not.toThrow();
    expect(() => gateway.approval('bash', () => 'accept')).toThrow('The name `bash` is taken');
  });
});
