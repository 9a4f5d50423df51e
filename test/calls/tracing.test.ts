import { describe, expect, it } from 'vitest';
import type { CallTrace, TracedCall, Tracing } from '../../src/calls/tracing.ts';
import { AttemptError } from '../../src/policy/failures/failure.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';
import { startReconciling } from '../support/startReconciling.ts';

interface Traced extends Started {
  /** What the tracer is told, in order. */
  readonly told: unknown[];
  readonly tracing: Tracing;
}

/** An integration whose calls a tracer follows. */
function startTraced(policy: Parameters<typeof startIntegration>[0] = {}): Traced {
  const { told, tracing } = tracingTold();
  const started = startIntegration(policy, undefined, { tracing, toolOf: (input) => input });
  return { ...started, told, tracing };
}

function tracingTold(): Pick<Traced, 'told' | 'tracing'> {
  const told: unknown[] = [];
  const trace: CallTrace = {
    context: { traceparent: '00-trace' },
    run(work) {
      told.push('runs');
      return work();
    },
    attemptFailed: (attempt, { kind }, delayMs) => void told.push(['failed', attempt, kind, delayMs]),
    waits: (waiting) => void told.push(['waits', waiting]),
    reconciling: ({ asks, attempt, facts }) => void told.push(['reconciling', asks, attempt, facts.kind]),
    reconciled: ({ verdict, how }) => void told.push(['reconciled', verdict, how]),
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
  return { told, tracing };
}

const lost = fault('timeout', { message: 'No answer' });
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

  it('[O-5] [R-16] hears when it is asked what became of a call and what was found, for as long as that is under way', async () => {
    const { told, tracing } = tracingTold();
    const { make, attempt, asked, clock } = startReconciling({}, { retry: { maxAttempts: 1 } }, { tracing });
    const first = make('charge:1');
    attempt(0).reject(lost);
    await clock.settle();
    expect(told.slice(2)).toEqual([
      ['reconciling', 'list_payments', 1, 'timeout'],
      ['waits', 'reconciling'],
    ]);
    const second = make('charge:1');
    asked[0]?.resolve({ done: 'ch_42', how: 'listed' });
    await Promise.all([first.outcome, second.outcome]);
    expect(told.slice(5)).toEqual([
      ['waits', 'reconciling'],
      ['reconciled', 'done', 'listed'],
      ['ended', 'ch_42', 1, undefined],
      ['reconciled', 'done', 'listed'],
      ['ended', 'ch_42', 0, undefined],
    ]);
    told.length = 0;
    make('charge:2', { overallMs: 1000 });
    await clock.advance(1000);
    asked[1]?.resolve('done');
    await clock.settle();
    expect(told.slice(2)).toEqual([
      ['reconciling', 'list_payments', 1, 'timeout'],
      ['ended', 'timeout', 1, undefined],
    ]);
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
