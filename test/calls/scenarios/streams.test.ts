import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { CallPath } from '../../../src/calls/callPath.ts';
import type { CallPathOptions } from '../../../src/calls/callPathOptions.ts';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import { CallableIntegration } from '../../../src/calls/integration.ts';
import type { AttemptContext } from '../../../src/calls/operation.ts';
import { SignalFanout } from '../../../src/calls/signalFanout.ts';
import { integrationMachine } from '../../../src/machines/integration.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import type { IntegrationPolicy } from '../../../src/policy/policy.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import type { CallStream } from '../../../src/streams/callStream.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { isSettled } from '../../support/deferred.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { fault } from '../../support/startIntegration.ts';
import { ScriptedSource } from '../../streams/scriptedSource.ts';

const optionsOf = (policy: IntegrationPolicy, clock: SimulatedClock) => ({
  name: 'llm',
  policy,
  clock,
  random: () => 0.5,
  facts: new RecordedFacts(),
  deadlines: new DeadlineQueue(clock),
  signals: new SignalFanout(),
});

/** An integration whose attempts answer with sources that the test feeds. */
function startStreaming(policy: PolicyInput = {}, extra: Partial<CallPathOptions<string, AsyncIterable<string>>> = {}) {
  const clock = new SimulatedClock();
  const options = optionsOf(resolvePolicy('llm', policy), clock);
  const { facts, deadlines } = options;
  const sources: ScriptedSource<string>[] = [];
  const inputs: string[] = [];
  const contexts: AttemptContext[] = [];
  const path = new CallPath<string, AsyncIterable<string>>({
    ...options,
    ...extra,
    operation(input, context) {
      inputs.push(input);
      contexts.push(context);
      const source = new ScriptedSource<string>();
      sources.push(source);
      return source;
    },
  });
  path.attach(createActor(integrationMachine, { input: { name: 'llm', breaker: path.policy.breaker } }).start());
  const source = (index: number): ScriptedSource<string> => {
    const found = sources[index];
    if (found === undefined) throw new Error(`There was no attempt ${index}; ${sources.length} were made`);
    return found;
  };
  return { clock, facts, deadlines, path, integration: new CallableIntegration(path), source, inputs, contexts };
}

/** Takes a chunk that the source gives. */
async function take<C>(
  stream: CallStream<C>,
  source: ScriptedSource<C>,
  chunk: C,
  clock: SimulatedClock,
): Promise<void> {
  const next = stream.chunks.next();
  await clock.settle();
  source.give(chunk);
  expect(await next).toEqual({ done: false, value: chunk });
}

describe('a stream', () => {
  it('[R-13] is handed over chunk by chunk, and its call ends when it does', async () => {
    const { integration, clock, source, facts, path } = startStreaming();
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    await clock.advance(10);
    await take(stream, source(0), 'b', clock);
    expect(path.stats.attempts).toBe(1);
    const last = stream.chunks.next();
    await clock.settle();
    source(0).end();
    expect(await last).toEqual({ done: true, value: undefined });
    expect(await stream.outcome).toEqual({ ok: true, value: { chunks: 2, firstChunkMs: 0 } });
    expect(path.stats).toMatchObject({ attempts: 0, succeeded: 1 });
    expect(facts.of('call.succeeded')).toMatchObject([{ elapsedMs: 10, attempts: 1 }]);
  });

  it('[R-13] tells in whole ms when its first chunk came', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q');
    await clock.advance(10.6);
    await take(stream, source(0), 'a', clock);
    const last = stream.chunks.next();
    await clock.settle();
    source(0).end();
    await last;
    expect(await stream.outcome).toEqual({ ok: true, value: { chunks: 1, firstChunkMs: 11 } });
  });

  it('[R-13] asks its source for a chunk only when its reader does', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q');
    await clock.settle();
    expect(source(0).asked).toBe(0);
    await take(stream, source(0), 'a', clock);
    await clock.advance(1000);
    expect(source(0).asked).toBe(1);
  });

  it('[R-13] that falls silent while its reader waits is ended by the idle limit, and its source is told', async () => {
    const { integration, clock, source, path } = startStreaming({
      limits: { idleMs: 1000 },
      retry: { maxAttempts: 3 },
    });
    const stream = integration.stream('q', { effect: 'readOnly' });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    next.catch(() => undefined);
    await clock.advance(999);
    expect(await isSettled(next)).toBe(false);
    await clock.advance(1);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(source(0).cancelled).toBe(true);
    expect((await stream.outcome).ok).toBe(false);
    // Half a stream is not begun anew, whatever its effect.
    expect(path.stats).toMatchObject({ attempts: 0, waiting: 0 });
  });

  it('[R-13] is not ended by a slow reader, whose time counts for no limit but the overall one', async () => {
    const { integration, clock, source, path } = startStreaming({
      limits: { idleMs: 1000, attemptMs: 5000, overallMs: 60_000 },
    });
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    await clock.advance(30_000);
    await take(stream, source(0), 'b', clock);
    expect(path.stats.attempts).toBe(1);
    await clock.advance(30_000);
    expect(await stream.outcome).toMatchObject({ ok: false, failure: { reason: 'overall_timeout' } });
    expect(source(0).cancelled).toBe(true);
  });

  it('[R-13] is given its whole idle limit after a slow reader has asked again', async () => {
    const { integration, clock, source } = startStreaming({ limits: { idleMs: 1000 } });
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    await clock.advance(30_500);
    const next = stream.chunks.next();
    await clock.advance(999);
    source(0).give('b');
    expect(await next).toEqual({ done: false, value: 'b' });
  });

  it('[R-13] [M-15] whose reader never comes does not make its server suspect', async () => {
    let asked = 0;
    const onSilence = (): Promise<boolean> => {
      asked++;
      return Promise.resolve(true);
    };
    const { integration, clock } = startStreaming(
      { limits: { overallMs: 1000 } },
      { toolOf: () => 'complete', onSilence },
    );
    const stream = integration.stream('q');
    await clock.advance(1000);
    expect((await stream.outcome).ok).toBe(false);
    expect(asked).toBe(0);
  });

  it.each([
    ['tried again by its status', 503, { kind: 'transient', attempts: 2 }],
    ['a failure of its kind', 401, { kind: 'auth', attempts: 1, status: 401 }],
  ])('[R-13] of a response that is not ok is %s', async (_, status, failure) => {
    const { path, clock } = startStreaming({ retry: { maxAttempts: 2 } });
    let left = 0;
    const body = (): ReadableStream => new ReadableStream({ cancel: () => void left++ });
    const own = new CallPath<string, Response>({
      ...optionsOf(path.policy, clock),
      operation: () => new Response(body(), { status, headers: { 'retry-after-ms': '0' } }),
    });
    own.attach(createActor(integrationMachine, { input: { name: 'llm', breaker: own.policy.breaker } }).start());
    const stream = new CallableIntegration(own).stream('q');
    await clock.advance(10_000);
    expect(await stream.outcome).toMatchObject({ ok: false, failure });
    expect(left).toBe(failure.attempts);
  });

  it('[R-13] [M-4] whose reader never comes says nothing against its upstream', async () => {
    const { integration, clock } = startStreaming({ limits: { overallMs: 1000 }, breaker: { consecutiveFailures: 1 } });
    const stream = integration.stream('q');
    await clock.advance(1000);
    expect((await stream.outcome).ok).toBe(false);
    expect(integration.breaker.state).toBe('closed');
  });

  it('[R-13] is tried again before its first chunk, [R-12] as any call is', async () => {
    const { integration, clock, source, facts } = startStreaming();
    const stream = integration.stream('q');
    const first = stream.chunks.next();
    await clock.settle();
    source(0).fail(fault('transient', { outcome: 'failed' }));
    await clock.advance(1000);
    source(1).give('a');
    expect(await first).toEqual({ done: false, value: 'a' });
    expect(facts.of('call.first_chunk')).toMatchObject([{ attempt: 2, afterMs: 1000 }]);
    source(0).give('late');
    await take(stream, source(1), 'b', clock);
  });

  it('[R-13] that breaks after a chunk is not tried again, and its reader learns it after what came', async () => {
    const { integration, clock, source, inputs } = startStreaming();
    const stream = integration.stream('q', { effect: 'idempotent' });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    await clock.settle();
    source(0).fail(fault('transient'));
    await expect(next).rejects.toMatchObject({ name: 'IntegrationError', failure: { kind: 'transient', attempts: 1 } });
    await clock.advance(60_000);
    expect(inputs).toHaveLength(1);
    expect(stream.chunkCount).toBe(1);
  });

  it('[R-13] goes on where it broke when its caller can resume it', async () => {
    const { integration, clock, source, inputs } = startStreaming();
    const stream = integration.stream('q', { resume: (last, input, chunks) => `${input} after ${last} (${chunks})` });
    await take(stream, source(0), 'a', clock);
    await take(stream, source(0), 'b', clock);
    const next = stream.chunks.next();
    await clock.settle();
    source(0).fail(fault('transient'));
    await clock.advance(1000);
    expect(inputs).toEqual(['q', 'q after b (2)']);
    source(1).give('c');
    expect(await next).toEqual({ done: false, value: 'c' });
  });

  it('[R-13] [R-12] that can be resumed goes on after a silence too, though nobody said that it may be repeated', async () => {
    const { integration, clock, source, inputs } = startStreaming({ limits: { idleMs: 1000 } });
    const stream = integration.stream('q', { resume: () => 'the rest' });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    await clock.advance(2000);
    expect(inputs).toEqual(['q', 'the rest']);
    source(1).give('b');
    expect(await next).toEqual({ done: false, value: 'b' });
  });

  it('[R-13] that is resumed is not repeated where it may change something', async () => {
    const { integration, clock, source, inputs } = startStreaming();
    const stream = integration.stream('q', { effect: 'mutating', resume: () => 'again' });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    next.catch(() => undefined);
    await clock.settle();
    source(0).fail(fault('transient'));
    await clock.advance(60_000);
    expect(inputs).toEqual(['q']);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'transient' } });
  });

  it('[R-13] whose resume throws ends as its call', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q', {
      resume() {
        throw new Error('cannot');
      },
    });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    next.catch(() => undefined);
    await clock.settle();
    source(0).fail(fault('transient'));
    await clock.advance(1000);
    await expect(next).rejects.toMatchObject({ failure: { message: 'cannot', attempts: 2 } });
  });

  it('[R-13] ends when its reader leaves, and its source is told', async () => {
    const { integration, clock, source, facts, path } = startStreaming();
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    await stream.chunks.return?.();
    expect(source(0).cancelled).toBe(true);
    expect(path.stats.attempts).toBe(0);
    const left = { kind: 'cancelled', reason: 'reader_left', message: 'The reader left the stream' };
    expect(await stream.outcome).toMatchObject({ ok: false, failure: left });
    expect(facts.of('call.failed')).toHaveLength(1);
    expect(await stream.chunks.next()).toEqual({ done: true, value: undefined });
  });

  it('[R-13] [R-8] ends when its caller aborts it, with the reason', async () => {
    const { integration, clock, source } = startStreaming();
    const controller = new AbortController();
    const stream = integration.stream('q', { signal: controller.signal });
    await take(stream, source(0), 'a', clock);
    const next = stream.chunks.next();
    next.catch(() => undefined);
    const reason = new Error('the page was closed');
    controller.abort(reason);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'cancelled', cause: reason } });
    expect(source(0).cancelled).toBe(true);
  });

  it('[R-13] [I-1] ends at its limit though its source ignores that it was given up', async () => {
    const { integration, clock, source, path } = startStreaming({ limits: { idleMs: 1000 }, abortGraceMs: 5000 });
    const stream = integration.stream('q');
    await clock.settle();
    source(0).clings = true;
    const next = stream.chunks.next();
    next.catch(() => undefined);
    await clock.advance(1000);
    await expect(next).rejects.toMatchObject({ failure: { reason: 'idle_timeout' } });
    expect(path.stats.abandoned).toBe(0);
    await clock.advance(5000);
    expect(path.stats.abandoned).toBe(1);
  });

  it('[R-13] [M-7] keeps its permit until it has ended', async () => {
    const { integration, clock, source } = startStreaming({ maxInFlight: 1 });
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    expect(await integration.stream('q').outcome).toMatchObject({ ok: false, failure: { kind: 'too_many_requests' } });
    const last = stream.chunks.next();
    await clock.settle();
    source(0).end();
    await last;
    void integration.stream('q');
    await clock.settle();
    expect(source(1).asked).toBe(0);
  });

  it('[R-13] [I-1] is refused before it begins, and its reader learns why', async () => {
    const { integration, inputs } = startStreaming();
    integration.breaker.isolate();
    const stream = integration.stream('q');
    await expect(stream.chunks.next()).rejects.toMatchObject({ failure: { kind: 'circuit_open' } });
    expect(inputs).toEqual([]);
  });

  it('[R-13] answers a reader that asks twice at once in turn', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q');
    const asked = [stream.chunks.next(), stream.chunks.next(), stream.chunks.next()];
    for (const chunk of ['a', 'b']) {
      await clock.settle();
      source(0).give(chunk);
    }
    await clock.settle();
    source(0).end();
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(['a', 'b', undefined]);
  });

  it('[R-13] is the body of a response: text as it is, anything else as a line of JSON', async () => {
    const { integration, clock, source } = startStreaming();
    const text = new Response(integration.stream('q').toReadableStream()).text();
    await clock.settle();
    for (const chunk of ['é', new Uint8Array([98]), { a: 1 }, 2]) {
      source(0).give(chunk as string);
      await clock.settle();
    }
    source(0).end();
    expect(await text).toBe('éb{"a":1}\n2\n');
  });

  it('[R-13] ends as a web stream with the chunk that cannot be written', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q');
    const text = new Response(stream.toReadableStream()).text();
    text.catch(() => undefined);
    await clock.settle();
    source(0).give({ big: 1n } as never);
    await clock.settle();
    await expect(text).rejects.toThrow(TypeError);
    expect(await stream.outcome).toMatchObject({ failure: { kind: 'cancelled', attempts: 1 } });
    expect(source(0).cancelled).toBe(true);
  });

  it('[R-13] is a web stream for who wants one, which cancels the work when it is cancelled', async () => {
    const { integration, clock, source } = startStreaming();
    const stream = integration.stream('q');
    const reader = stream.toReadableStream().getReader();
    const first = reader.read();
    await clock.settle();
    source(0).give('a');
    expect(await first).toEqual({ done: false, value: new TextEncoder().encode('a') });
    await reader.cancel('enough');
    expect(source(0).cancelled).toBe(true);
    expect(await stream.outcome).toMatchObject({
      failure: { reason: 'reader_left', cause: 'enough', message: 'The reader left the stream' },
    });
  });

  it('[R-13] [M-10] ends with its integration, and nothing is left in the queue of deadlines', async () => {
    const { integration, clock, source, path, deadlines } = startStreaming();
    const stream = integration.stream('q');
    await take(stream, source(0), 'a', clock);
    path.stop();
    expect(await stream.outcome).toMatchObject({ ok: false, failure: { reason: 'stopped' } });
    expect(deadlines.size).toBe(0);
    expect(source(0).cancelled).toBe(true);
  });
});
