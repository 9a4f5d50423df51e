import { describe, expect, it } from 'vitest';
import { AttemptError } from '../../../src/index.ts';
import { startTelemetry, type Telemetry } from '../startTelemetry.ts';

const down = (): never => {
  throw new AttemptError({ kind: 'transient', message: 'down', outcome: 'failed' });
};

/** The value of each point of a metric by one attribute of it. */
async function byAttribute({ points }: Telemetry, name: string, attribute: string): Promise<Record<string, unknown>> {
  const found = await points(name);
  return Object.fromEntries(found.map(({ attributes, value }) => [String(attributes[attribute]), value]));
}

describe('metrics', () => {
  it('[O-5] are the duration of each call, by integration and how it ended', async () => {
    const started = await startTelemetry(() => undefined);
    const { gateway, clock, points } = started;
    const policy = { retry: { maxAttempts: 1 } };
    const slow = gateway.integration('slow', { policy }, async () => {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 1500));
      return 'found';
    });
    const kb = gateway.integration('kb', { policy }, down);
    const outcome = slow.call('a');
    await clock.advance(1500);
    await Promise.all([outcome, kb.call('b')]);
    const found = await points('unwedge.call.duration');
    expect(found.map(({ attributes, value }) => [attributes, value])).toEqual([
      [
        { 'unwedge.integration': 'slow', 'unwedge.integration.type': 'function' },
        expect.objectContaining({ count: 1, sum: 1.5 }),
      ],
      [
        { 'unwedge.integration': 'kb', 'unwedge.integration.type': 'function', 'error.type': 'transient' },
        expect.objectContaining({ count: 1, sum: 0 }),
      ],
    ]);
  });

  it('[O-5] count retries, openings of circuits, and say the state of each circuit', async () => {
    const started = await startTelemetry(() => undefined);
    const { gateway, clock } = started;
    const policy = { retry: { maxAttempts: 2 }, breaker: { consecutiveFailures: 2 } };
    const kb = gateway.integration('kb', { policy }, down);
    const outcome = kb.call('question', { effect: 'readOnly' });
    await clock.advance(60_000);
    await outcome;
    expect(await byAttribute(started, 'unwedge.call.retries', 'unwedge.integration')).toEqual({ kb: 1 });
    expect(await byAttribute(started, 'unwedge.breaker.opened', 'unwedge.integration')).toEqual({ kb: 1 });
    expect(await byAttribute(started, 'unwedge.breaker.state', 'unwedge.breaker.state')).toEqual({
      closed: 0,
      open: 1,
      'half-open': 0,
      isolated: 0,
      crashed: 0,
    });
  });

  it('[O-5] say what is under way, what waits and since when, and how often the watchdog fired', async () => {
    const started = await startTelemetry((declared) => {
      declared.integration('kb', { policy: { maxInFlight: 1 } }, () => new Promise(() => undefined));
      declared.session('agent:main', {
        watchdog: { toolCallMs: 10_000 },
        onMessage: async (_message, turn) => turn.tool('kb', 'find', {}),
      });
    });
    const { gateway, clock } = started;
    const session = gateway.session('agent:main');
    await session.send({ kind: 'user' });
    await session.send({ kind: 'user' });
    await clock.advance(4000);
    expect(await byAttribute(started, 'unwedge.call.in_flight', 'unwedge.integration')).toEqual({ kb: 1 });
    expect((await started.points('unwedge.mailbox.messages')).map(({ value }) => value)).toEqual([1]);
    expect((await started.points('unwedge.mailbox.oldest_age')).map(({ value }) => value)).toEqual([4]);
    expect(await byAttribute(started, 'unwedge.call.pending', 'unwedge.integration')).toEqual({});
    await clock.advance(2000);
    expect(await byAttribute(started, 'unwedge.call.pending', 'unwedge.integration')).toEqual({ kb: 1 });
    await clock.advance(4000);
    expect(await byAttribute(started, 'unwedge.watchdog.fired', 'unwedge.watchdog.rule')).toEqual({ tool_call: 1 });
    expect(await byAttribute(started, 'unwedge.turn.duration', 'unwedge.message.kind')).toEqual({
      user: expect.objectContaining({ sum: 10 }) as unknown,
    });
  });

  it('[O-5] [G-15] [G-16] count the steps against repetition, and budgets that were spent', async () => {
    const started = await startTelemetry((declared) => {
      declared.integration('kb', {}, () => 'the same');
      declared.session('agent:main', {
        budget: { session: { toolCalls: 5 } },
        onMessage: async (_message, turn) => {
          for (let call = 0; call < 6; call++) await turn.tool('kb', 'find', {});
        },
      });
    });
    const { gateway, clock } = started;
    await gateway.session('agent:main').send({ kind: 'user' });
    await clock.advance(1000);
    expect(await byAttribute(started, 'unwedge.session.spinning', 'unwedge.spinning.form')).toEqual({ success: 1 });
    expect(await byAttribute(started, 'unwedge.session.spinning', 'unwedge.spinning.step')).toEqual({ notice: 1 });
    expect(await byAttribute(started, 'unwedge.budget.spent', 'unwedge.budget.metric')).toEqual({ toolCalls: 1 });
    expect(await byAttribute(started, 'unwedge.budget.spent', 'unwedge.budget.per')).toEqual({ session: 1 });
    // The span of the turn says so, too.
    gateway.session('agent:main').cancel();
    await clock.advance(1000);
    expect(started.span('session turn').attributes).toMatchObject({
      'unwedge.spinning.step': 'notice',
      'unwedge.spinning.form': 'success',
      'unwedge.spinning.count': 4,
      'unwedge.budget.metric': 'toolCalls',
      'unwedge.budget.per': 'session',
    });
  });

  it('[O-5] are told no more when telemetry is off', async () => {
    const started = await startTelemetry(() => undefined);
    const kb = started.gateway.integration('kb', {}, () => 'found');
    const open = { closed: 0, open: 0, 'half-open': 0, isolated: 1, crashed: 0 };
    const release = kb.breaker.isolate();
    expect(await byAttribute(started, 'unwedge.breaker.state', 'unwedge.breaker.state')).toEqual(open);
    started.off();
    release();
    await kb.call('question');
    // What was said last stays with the SDK.
    expect(await byAttribute(started, 'unwedge.breaker.state', 'unwedge.breaker.state')).toEqual(open);
    expect(await started.points('unwedge.call.duration')).toEqual([]);
  });
});
