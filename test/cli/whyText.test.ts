import { describe, expect, it } from 'vitest';
import { recordsText, whyText } from '../../cli/whyText.ts';

describe('the words for a call that waits for a rate limit', () => {
  it('[R-15] [L-5] say how long, and for which one', () => {
    const rate = { of: 'requests', limit: 50, perMs: 60_000, waitMs: 12_000 };
    const why = (rule: 'rate_limit' | 'overall_timeout', inMs: number) =>
      whyText({
        session: 'agent:main',
        state: 'processing',
        waiting: 0,
        questions: [],
        rules: [],
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
      rules: [],
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
    const why = { session: 'agent:main', state: 'processing', waiting: 0, questions: [], rules: [], calls: [call] };
    const text = whyText(why as never);
    expect(text).toContain(line);
    expect(text).not.toContain('backoff');
  });
});

const rule = (name: string, inMs: number, of: object = {}) => ({
  id: `c1:${name}`,
  rule: name,
  inMs,
  what: 'charge',
  ...of,
});

/** A session with one call in flight. */
const inFlight = (progress: object, more: object = {}) =>
  ({
    ...{ session: 'agent:main', state: 'processing', waiting: 0, heldElsewhere: false, questions: [] },
    rules: [rule('idle_timeout', 10_000, { call: 'c1' }), rule('tool_call', 300_000, { call: 'c1' })],
    next: rule('idle_timeout', 10_000),
    calls: [
      {
        ...{ call: 'c1', integration: 'bank', tool: 'charge', sinceMs: 20_000 },
        progress: {
          ...{ phase: 'in_flight', attempt: 1, maxAttempts: 3, silentMs: 20_000 },
          next: rule('idle_timeout', 10_000),
          also: [rule('attempt_timeout', 60_000), rule('overall_timeout', 900_000)],
          ...progress,
        },
      },
    ],
    ...more,
  }) as never;

/** The same with more that is known of the call. */
const waits = (more: object) => {
  const why = inFlight({}) as { readonly calls: readonly object[] };
  return { ...why, calls: why.calls.map((call) => ({ ...call, ...more })) } as never;
};

describe('the words for a call in flight', () => {
  it('[L-5] show the rule that ends it first, and the others in the order of their time', () => {
    const text = whyText(inFlight({}));
    expect(text).toContain('attempt 1 of 3 in flight, silent for 20s; idle_timeout in 10s\n');
    expect(text).toContain('    also: attempt_timeout in 1m, watchdog in 5m\n');
    expect(text).not.toContain('overall_timeout');
  });

  it('[A-8] name what the prompt of an agent waits for, and what is below it', () => {
    const about = { conversations: ['s1'], sinceMs: 60_000 };
    const api = { ...about, kind: 'stream', by: 'unwedge api model', what: 'messages' };
    const mcp = { kind: 'call', by: 'unwedge mcp files', what: 'read_file', sinceMs: 120_000 };
    const behind = [
      { ...mcp, limitInMs: 180_000 },
      // Infinite as JSON has it.
      { ...mcp, limitInMs: null },
      { ...api, silentMs: 3000, limitInMs: 87_000 },
      { ...api, silentMs: 60_000, limitInMs: 30_000 },
      { ...api, limitInMs: 240_000 },
    ];
    const text = whyText(waits({ waitsFor: 'waits for tool read\u001b[2J for 2m', behind }));
    expect(text).toContain('in flight, silent for 20s; idle_timeout in 10s\n    waits for tool read');
    expect(text).not.toContain('\u001b');
    expect(text.split('\n').filter((line) => line.includes('behind it'))).toEqual([
      '    behind it: unwedge mcp files: read_file for 2m, limit in 3m',
      '    behind it: unwedge mcp files: read_file for 2m',
      "    behind it: unwedge api model: messages for 1m, the model's content came 3s ago, limit in 1m27s",
      '    behind it: unwedge api model: messages for 1m, no content of the model yet, limit in 30s',
      '    behind it: unwedge api model: messages for 1m, limit in 4m',
    ]);
    expect(whyText(waits({}))).not.toContain('behind it');
  });

  it('[L-5] [P-1] say of one whose server is pinged what ends it where that answers', () => {
    const ping = rule('ping', 10_000, { call: 'c1' });
    const also = [rule('attempt_timeout', 60_000), rule('overall_timeout', 900_000)];
    const text = whyText(inFlight({ next: ping, also }, { next: ping, rules: [ping] }));
    expect(text).toContain('silent for 20s; its server is pinged in 10s\n');
    expect(text).toContain('    also: attempt_timeout in 1m, overall_timeout in 15m\n');
    expect(text).toContain(
      'Next: the server of charge is asked whether it lives (ping) in 10s.\nWhere it answers, attempt_timeout ends the attempt of charge in 1m; where it does not, it is killed.\n',
    );
    expect(text).not.toContain('idle_timeout');
  });

  it('[L-5] [R-3] say of one that is not repeated that it is not, and why', () => {
    const mutating = whyText(inFlight({ repeatAfter: 'refused', effect: 'mutating' }));
    expect(mutating).toContain(': attempt 1 in flight,');
    expect(mutating).toContain('it is not repeated, as it is mutating: only where it was refused');
    const undeclared = whyText(inFlight({ repeatAfter: 'broken' }));
    expect(undeclared).toContain(': attempt 1 in flight,');
    expect(undeclared).toContain('as nobody declared it readOnly or idempotent');
    const harmless = whyText(inFlight({ repeatAfter: 'lost', effect: 'readOnly' }));
    expect(harmless).not.toContain('repeated');
    const ruled = whyText(inFlight({ repeatAfter: 'refused', effect: 'mutating', reconciles: true }));
    expect(ruled).toContain('its reconcile rule finds out whether it happened');
  });

  it('[G-1] [L-5] say that the gateway stops, and by when', () => {
    const soon = whyText(inFlight({}, { stopping: { inMs: 5000 } }));
    expect(soon).toContain('Next: the gateway stops, and cuts in 5s what is under way by then.\n');
    expect(soon).toContain('Its own rule, idle_timeout ends the attempt of charge, would follow in 10s.\n');
    expect(whyText(inFlight({}, { stopping: { inMs: 5000, sinceMs: 55_000 } }))).toContain(
      'Next: the gateway stops (begun 55s ago), and cuts in 5s what is under way by then.\n',
    );
    const later = whyText(inFlight({}, { stopping: { inMs: 60_000 } }));
    expect(later).toContain('Next: idle_timeout ends the attempt of charge in 10s.\nAfter that: the gateway stops,');
    expect(whyText(inFlight({}, { stopping: { inMs: 0 } }))).toContain('Next: the gateway stops now.');
  });

  it('[L-6] are wrapped behind their indent on a terminal, and whole in a pipe', () => {
    const why = inFlight({ repeatAfter: 'broken' });
    for (const width of [60, 80])
      for (const line of whyText(why, width).split('\n')) expect(line.length).toBeLessThanOrEqual(width);
    expect(whyText(why, 60)).toMatch(/\n {4}it is not repeated .*\n {6}\S/);
    expect(whyText(why)).toMatch(/\n {4}it is not repeated .* idempotent\n/);
  });
});

describe('the words for a session on record', () => {
  it('[L-5] [G-1] promise no watchdog where no gateway is there to fire it', () => {
    const call = { call: 'c', integration: 'bank', tool: 'charge', startedAt: 0, deadlineAt: 300_000 };
    const message = { id: 's-m1', kind: 'user', state: 'taken', deliveries: 2, postedAt: 0 } as const;
    const records = { session: 's', messages: [message], calls: [call], deadLetters: [] };
    const gone = recordsText(records, { now: 3000, isGone: true });
    expect(gone).not.toContain('watchdog');
    expect(gone).toContain('begun 2 times, accepted 3s ago; the next start delivers it again\n');
    const worn = { ...records, messages: [{ ...message, deliveries: 3 }] };
    expect(recordsText(worn, { now: 3000, isGone: true })).toContain(
      'begun 3 times, accepted 3s ago; the next start makes it a dead letter, unless `recovery.maxDeliveries` is above 3',
    );
    expect(gone).toContain('the next start answers it as unknown: it may have taken effect\n');
    const ruled = { ...records, calls: [{ ...call, rule: 'ask' }] };
    expect(recordsText(ruled, { now: 0, isGone: true })).toContain('the next start asks its reconcile rule whether');
    expect(recordsText(records, { now: 0 })).toContain('due in 5m by the watchdog');
  });

  it('[L-5] tell the limits that were last in force', () => {
    const limits = { idleMs: 30_000, attemptMs: 60_000, overallMs: Number.POSITIVE_INFINITY };
    const policy = (idleMs: number) => ({
      ...{ name: 'kb', since: 0, seenAt: 0 },
      kept: { of: 'integration', policy: { limits: { ...limits, idleMs } }, traits: {} },
    });
    const call = { call: 'c1', integration: 'kb', tool: 'query', startedAt: 0, deadlineAt: 60_000 };
    const records = { session: 's', messages: [], calls: [call], deadLetters: [] };
    const text = recordsText(records, { now: 10_000, policies: [policy(1), policy(30_000)] as never });
    expect(text).toContain(
      'kb query pending, started 10s ago, its attempt ends first by the idle limit of 30s, due in 50s by the watchdog',
    );
    const later = recordsText(records, { now: 10_000, policies: [policy(Infinity)] as never });
    expect(later).toContain('kb query pending, started 10s ago, due in 50s by the watchdog');
    expect(text).toContain('    the policy of kb: idle limit 30s, attempt limit 1m\n');
  });
});

describe('the words for a turn without a call', () => {
  it('[L-5] name the circuit that refused its last one: its handler may wait for that', () => {
    const turn = { turn: 1, message: 's-m1', kind: 'user', delivery: 1, sinceMs: 5000 };
    const of = { integration: 'kb', tool: 'find', attempts: 0, trail: [], sinceMs: 4000, endedAgoMs: 4000, ok: false };
    const failure = { kind: 'circuit_open', message: 'The circuit of kb is open; next try in 1m' } as const;
    const ended = [
      { ...of, call: 'c1', ok: true },
      { ...of, call: 'c2', failure },
    ];
    const parts = { session: 's', state: 'processing', waiting: 0, heldElsewhere: false };
    const text = whyText({ ...parts, turn, ended, calls: [], questions: [], rules: [] });
    expect(text.split('\n').slice(1, 3)).toEqual([
      '  no call is pending: its handler is at work',
      '  kb find (c2) failed 4s ago, after 0ms: circuit_open: The circuit of kb is open; next try in 1m',
    ]);
  });
});
