import { context, SpanKind, SpanStatusCode, trace, type HrTime } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { AttemptError, createGateway } from '../../../src/index.ts';
import { withTelemetry } from '../../../otel/index.ts';
import { registerContext, startTelemetry } from '../startTelemetry.ts';

const down = (): never => {
  throw new AttemptError({ kind: 'transient', message: 'down', outcome: 'failed' });
};
const inMs = ([seconds, nanos]: HrTime): number => seconds * 1000 + nanos / 1e6;

describe('the span of a call', () => {
  it('[O-5] goes from the call to its end, in wall time of the clock, waits included', async () => {
    let attempts = 0;
    const { gateway, clock, span } = await startTelemetry(() => undefined);
    const kb = gateway.integration('kb', { policy: { retry: { maxAttempts: 3 } } }, () =>
      ++attempts === 1 ? down() : 'found',
    );
    const began = clock.wallNow();
    const outcome = kb.call('question', { effect: 'readOnly', label: 'a question' });
    await clock.advance(60_000);
    expect((await outcome).ok).toBe(true);

    const { startTime, duration, events, attributes, status, kind } = span('call kb');
    expect(inMs(startTime)).toBe(began);
    expect(events.map(({ name }) => name)).toEqual(['unwedge.attempt.failed', 'unwedge.call.waits']);
    const [failed, waits] = events;
    expect(failed?.attributes).toMatchObject({
      'unwedge.attempt.number': 1,
      'unwedge.failure.kind': 'transient',
      'unwedge.failure.message': 'down',
    });
    expect(failed?.attributes?.['unwedge.retry.delay']).toBe(inMs(duration) / 1000);
    expect(waits?.attributes).toEqual({ 'unwedge.wait.for': 'backoff' });
    expect(attributes).toEqual({
      'unwedge.integration': 'kb',
      'unwedge.integration.type': 'function',
      'unwedge.call.id': 'kb-1',
      'unwedge.call.label': 'a question',
      'unwedge.call.attempts': 2,
    });
    expect(kind).toBe(SpanKind.INTERNAL);
    expect(status.code).toBe(SpanStatusCode.UNSET);
  });

  it('[O-5] [R-16] tells that it is asked what became of the call, and what was found', async () => {
    const { gateway, clock, span } = await startTelemetry(() => undefined);
    const bank = gateway.integration(
      'bank',
      {
        reconcile: {
          probe: () =>
            new Promise((resolve) => clock.setTimeout(() => resolve({ done: 'ch_42', how: 'it is ch_42' }), 700)),
        },
      },
      () => {
        throw new AttemptError({ kind: 'crash', message: 'the answer is lost', outcome: 'unknown' });
      },
    );
    const began = clock.wallNow();
    const outcome = bank.call('charge', { effect: 'mutating' });
    await clock.advance(1000);
    expect((await outcome).ok).toBe(true);
    const { events } = span('call bank');
    expect(events.map(({ name, time }) => [name, inMs(time) - began])).toEqual([
      ['unwedge.call.reconciling', 0],
      ['unwedge.call.waits', 0],
      ['unwedge.call.reconciled', 700],
    ]);
    expect(events[0]?.attributes).toEqual({
      'unwedge.reconcile.asks': 'its probe',
      'unwedge.attempt.number': 1,
      'unwedge.failure.kind': 'crash',
      'unwedge.failure.message': 'the answer is lost',
    });
    expect(events[2]?.attributes).toEqual({
      'unwedge.reconcile.verdict': 'done',
      'unwedge.reconcile.how': 'it is ch_42',
    });
  });

  it('[O-5] that failed has status and error.type of its reason, or of its kind', async () => {
    const { gateway, clock, span } = await startTelemetry(() => undefined);
    const policy = { retry: { maxAttempts: 1 } };
    const kb = gateway.integration('kb', { policy }, down);
    const slow = gateway.integration(
      'slow',
      { policy: { ...policy, attemptMs: 1000 } },
      () => new Promise(() => undefined),
    );
    await kb.call('question');
    const late = slow.call('question', { effect: 'mutating' });
    await clock.advance(120_000);
    await late;

    expect(span('call kb').attributes).toMatchObject({ 'error.type': 'transient', 'unwedge.call.effect': 'failed' });
    expect(span('call kb').status).toEqual({ code: SpanStatusCode.ERROR, message: 'down' });
    expect(span('call slow').attributes).toMatchObject({
      'error.type': 'attempt_timeout',
      'unwedge.failure.kind': 'timeout',
      'unwedge.failure.reason': 'attempt_timeout',
      'unwedge.call.effect': 'unknown',
    });
  });

  it('[O-5] is there for each refused call, and tells what a fallback answered for', async () => {
    const { gateway, spans } = await startTelemetry(() => undefined);
    const kb = gateway.integration('kb', {}, () => 'found');
    kb.breaker.isolate();
    await Promise.all([kb.call('a'), kb.call('b'), kb.call('c', { fallback: () => 'cached' })]);
    expect(spans().map(({ attributes }) => [attributes['error.type'], attributes['unwedge.call.fell_back']])).toEqual([
      ['isolated', undefined],
      ['isolated', undefined],
      [undefined, true],
    ]);
  });

  it('[O-5] is active where the function of the integration runs, below what is active at the call', async () => {
    registerContext();
    const { gateway, tracerProvider, span } = await startTelemetry(() => undefined);
    const inner = gateway.integration('inner', {}, () => 'found');
    const outer = gateway.integration('outer', {}, async () => {
      await Promise.resolve();
      return inner.call('question');
    });
    const request = tracerProvider.getTracer('host').startSpan('request');
    await context.with(trace.setSpan(context.active(), request), () => outer.call('question'));
    request.end();
    const calls = [span('request'), span('call outer'), span('call inner')];
    expect(new Set(calls.map((each) => each.spanContext().traceId)).size).toBe(1);
    expect(span('call outer').parentSpanContext?.spanId).toBe(span('request').spanContext().spanId);
    expect(span('call inner').parentSpanContext?.spanId).toBe(span('call outer').spanContext().spanId);
  });

  it('[O-5] is a root where the host has no context manager', async () => {
    const { gateway, span } = await startTelemetry(() => undefined);
    await gateway.integration('kb', {}, () => 'found').call('question');
    expect(span('call kb').parentSpanContext).toBeUndefined();
  });
});

describe('the span of a turn', () => {
  it.each([true, false])(
    '[O-5] has the tool calls of the turn below it, with a context manager: %s',
    async (managed) => {
      if (managed) registerContext();
      const { gateway, span, tracerProvider } = await startTelemetry((declared) => {
        declared.integration('kb', {}, ({ tool }: { tool: string }) => `${tool} found`);
        declared.session('agent:main', { onMessage: async (_message, turn) => turn.tool('kb', 'find', {}) });
      });
      const request = tracerProvider.getTracer('host').startSpan('request');
      const accepted = await context.with(trace.setSpan(context.active(), request), () =>
        gateway.session('agent:main').send({ kind: 'user', text: 'hello' }),
      );
      if (accepted.accepted) await accepted.processed;
      request.end();
      const turn = span('session turn');
      expect(turn.attributes).toMatchObject({
        'unwedge.session.id': 'agent:main',
        'gen_ai.conversation.id': 'agent:main',
        'unwedge.turn.number': 1,
      });
      expect(turn.parentSpanContext?.spanId).toBe(managed ? request.spanContext().spanId : undefined);
      expect(span('execute_tool find').parentSpanContext?.spanId).toBe(turn.spanContext().spanId);
    },
  );

  it('[O-5] belongs to who sent its message, not to the turn before it', async () => {
    registerContext();
    const { gateway, spans, tracerProvider } = await startTelemetry((declared) => {
      declared.session('agent:main', { onMessage: async () => Promise.resolve() });
    });
    const send = (name: string): ReturnType<ReturnType<typeof gateway.session>['send']> => {
      const request = tracerProvider.getTracer('host').startSpan(name);
      request.end();
      return context.with(trace.setSpan(context.active(), request), () =>
        gateway.session('agent:main').send({ kind: name }),
      );
    };
    const sent = await Promise.all([send('first'), send('second')]);
    await Promise.all(sent.flatMap((each) => (each.accepted ? [each.processed] : [])));
    const idOf = new Map(spans().map((each) => [each.spanContext().spanId, each.name]));
    const turns = spans().filter(({ name }) => name === 'session turn');
    expect(turns.map((each) => idOf.get(each.parentSpanContext?.spanId ?? ''))).toEqual(['first', 'second']);
  });
});

describe('telemetry', () => {
  it('[O-5] can be taken off and put on again; what is under way is told to its end', async () => {
    let answer: (value: string) => void = () => undefined;
    const { gateway, spans, off, tracerProvider } = await startTelemetry(() => undefined);
    const kb = gateway.integration('kb', {}, () => new Promise<string>((resolve) => (answer = resolve)));
    const first = kb.call('a');
    off();
    answer('found');
    await first;
    const second = kb.call('b');
    answer('found');
    await second;
    expect(spans()).toHaveLength(1);
    const again = withTelemetry(gateway, { tracerProvider });
    expect(() => withTelemetry(gateway)).toThrow('this one has it already');
    again();
    off();
  });

  it('[O-5] whose SDK throws ends no call', async () => {
    const gateway = createGateway();
    const broken = (): never => {
      throw new Error('broken SDK');
    };
    withTelemetry(gateway, { tracerProvider: { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) } });
    const kb = gateway.integration('kb', {}, () => 'found');
    await gateway.start();
    expect(await kb.call('question')).toEqual({ ok: true, value: 'found' });
    await gateway.stop();
  });

  it('[O-5] refuses what is no gateway and no provider', () => {
    expect(() => withTelemetry({ start: () => Promise.resolve() })).toThrow('Expected `gateway` to be a gateway');
    expect(() => withTelemetry(createGateway(), { tracerProvider: 5 as never })).toThrow(
      'Expected `tracerProvider` to be a TracerProvider of OpenTelemetry, got 5',
    );
  });
});
