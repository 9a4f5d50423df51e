import { describe, expect, it } from 'vitest';
import type { CallTrace, TracedCall, Tracing } from '../../src/calls/tracing.ts';
import { AttemptError } from '../../src/policy/failure.ts';
import { type Started, startIntegration } from '../support/startIntegration.ts';

interface Traced extends Started {
  /** What the tracer is told, in order. */
  readonly told: unknown[];
  readonly tracing: Tracing;
}

/** An integration whose calls a tracer follows. */
function startTraced(policy: Parameters<typeof startIntegration>[0] = {}): Traced {
  const told: unknown[] = [];
  const trace: CallTrace = {
    context: { traceparent: '00-trace' },
    run(work) {
      told.push('runs');
      return work();
    },
    attemptFailed: (attempt, { kind }, delayMs) => void told.push(['failed', attempt, kind, delayMs]),
    waits: (waiting) => void told.push(['waits', waiting]),
    callEnded: ({ outcome, attempts, fellBackFor }) =>
      void told.push(['ended', outcome.ok ? outcome.value : outcome.failure.kind, attempts, fellBackFor?.kind]),
  };
  const begins = (call: TracedCall): CallTrace => {
    told.push(['begins', call]);
    return trace;
  };
  const tracing: Tracing = {
    tracer: {
      callBegins: begins,
      requestBegins: () => ({ run: (work) => work(), ended: () => undefined }),
      turnBegins: () => ({ run: (work) => work(), ended: () => undefined }),
      here: () => undefined,
    },
  };
  const started = startIntegration(policy, undefined, { tracing, toolOf: (input) => input });
  return { ...started, told, tracing };
}

const down = new AttemptError({ kind: 'transient', message: 'down', outcome: 'failed' });

describe('a tracer', () => {
  it('[O-5] is told of a call by names, of each attempt that failed, of each wait and of the end', async () => {
    const { integration, attempt, clock, told } = startTraced({ retry: { maxAttempts: 2 } });
    const outcome = integration.call('find', { effect: 'readOnly', label: 'a question' });
    attempt(0).reject(down);
    await clock.advance(0);
    await clock.advance(60_000);
    attempt(1).resolve('found');
    await outcome;
    expect(told).toEqual([
      ['begins', expect.objectContaining({ integration: 'kb', number: 1, tool: 'find', label: 'a question' })],
      'runs',
      ['failed', 1, 'transient', expect.any(Number)],
      ['waits', 'backoff'],
      'runs',
      ['ended', 'found', 2, undefined],
    ]);
    expect(attempt(1).context.traceContext).toEqual({ traceparent: '00-trace' });
  });

  it('[O-5] hears that an attempt was the last, and what a fallback answered for', async () => {
    const { integration, attempt, told } = startTraced({ retry: { maxAttempts: 1 } });
    const outcome = integration.call('find', { fallback: () => 'from the cache' });
    attempt(0).reject(down);
    await outcome;
    expect(told.slice(2)).toEqual([
      ['failed', 1, 'transient', undefined],
      'runs',
      ['ended', 'from the cache', 1, 'transient'],
    ]);
  });

  it('[O-5] hears of every refusal, also of those that are told once per episode', async () => {
    const { integration, told } = startTraced();
    integration.breaker.isolate();
    await Promise.all([integration.call('a'), integration.call('b')]);
    expect(told.filter((each) => Array.isArray(each) && each[0] === 'ended')).toEqual([
      ['ended', 'circuit_open', 0, undefined],
      ['ended', 'circuit_open', 0, undefined],
    ]);
  });

  it('[O-5] that came or went later follows no call that was made before', async () => {
    const { integration, attempt, told, tracing } = startTraced();
    tracing.tracer = undefined;
    const outcome = integration.call('find');
    attempt(0).resolve('found');
    await outcome;
    expect(told).toEqual([]);
    expect(attempt(0).context.traceContext).toBeUndefined();
  });
});
