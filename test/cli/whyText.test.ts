import { describe, expect, it } from 'vitest';
import { whyText } from '../../src/cli/whyText.ts';

describe('the words for a call that waits for a rate limit', () => {
  it('[R-15] [L-5] say how long, and for which one', () => {
    const rate = { of: 'requests', limit: 50, perMs: 60_000, waitMs: 12_000 };
    const why = (rule: 'rate_limit' | 'overall_timeout', inMs: number) =>
      whyText({
        session: 'agent:main',
        state: 'processing',
        waiting: 0,
        questions: [],
        next: { rule, what: 'ask', inMs },
        calls: [
          {
            call: 'c1',
            integration: 'llm',
            tool: 'ask',
            sinceMs: 1000,
            progress: { phase: 'rate', attempt: 0, maxAttempts: 4, rate, next: { rule, inMs } },
          },
        ],
      } as never);
    const text = why('rate_limit', 12_000);
    expect(text).toContain('waits for its rate limit: 12s left (requests 50/min)');
    expect(text).toContain('Next: the rate limit has room for ask in 12s.');
    expect(why('overall_timeout', 5000)).toMatch(/12s left \(requests 50\/min\); overall_timeout in 5s/);
  });

  it.each([
    [{ held: false, state: 'asking' }, 'asks list_payments whether charge happened, 8s left'],
    [{ held: true, state: 'asking' }, 'asks list_payments whether an equal call of charge happened, 8s left'],
    [{ held: false, state: 'waiting' }, 'asks list_payments whether charge happened, again in 8s'],
    [
      { held: true, state: 'repeating' },
      'waits for an equal call of charge, which did not happen and is made again; 8s left',
    ],
  ])('[R-16] [O-8] says what it waits to know: %o', (how, expected) => {
    const next = { rule: 'reconcile', inMs: 8000 };
    const reconciling = { asks: 'list_payments', about: 'charge', probes: 1, ...how };
    const text = whyText({
      session: 'agent:main',
      state: 'processing',
      waiting: 0,
      questions: [],
      next: { ...next, what: 'charge' },
      calls: [
        {
          call: 'c1',
          integration: 'bank',
          tool: 'charge',
          sinceMs: 1000,
          progress: { phase: 'reconciling', attempt: 1, maxAttempts: 3, reconciling, next },
        },
      ],
    } as never);
    expect(text).toContain(expected);
    expect(text).toContain('Next: it is known whether charge happened, or asked again in 8s.');
  });

  it.each([
    ['rate', 'llm holds its calls back for its rate limit, circuit closed'],
    ['permit', 'llm has calls that wait, circuit closed'],
  ])('[R-15] [L-5] name no backoff where calls wait for: %s', (phase, line) => {
    const next = { rule: 'overall_timeout', inMs: 1000 };
    const target = { state: 'backoff', circuit: 'closed' };
    const progress = { phase, attempt: 0, maxAttempts: 4, next };
    const call = { call: 'c1', integration: 'llm', tool: 'ask', sinceMs: 1000, progress, target };
    const why = { session: 'agent:main', state: 'processing', waiting: 0, questions: [], calls: [call] };
    const text = whyText(why as never);
    expect(text).toContain(line);
    expect(text).not.toContain('backoff');
  });
});
