import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/policy/text/canonicalJson.ts';
import { newIdempotencyKey } from '../../src/policy/idempotencyKey.ts';
import { readValue } from '../../src/policy/options/readOptions.ts';
import { findingOf } from '../../src/policy/reconciler.ts';
import { judgeAnswer, questionOf, valueAt } from '../../src/policy/reconcileMatch.ts';
import {
  reconcileKey,
  type ReconcileOptions,
  reconcileRuleOf,
  type ToolRule,
  type ToolRuleOptions,
} from '../../src/policy/reconcileRule.ts';

const startedAt = Date.parse('2026-05-01T12:00:00.500Z');
const call = {
  integration: 'bank',
  tool: 'charge',
  input: { reference: 'o-7', amount: 100, of: { id: 3 } },
  session: 's1',
  call: 's1-1-1',
  startedAt,
  endedAt: startedAt + 8000,
};

function ruleOf(options: Partial<ToolRuleOptions> = {}): ToolRule {
  const given = { tool: 'list_payments', match: { reference: 'input.reference' }, ...options };
  return reconcileRuleOf(readValue('reconcile', given, reconcileKey) as ReconcileOptions) as ToolRule;
}

const judge = (answer: unknown, options: Partial<ToolRuleOptions> = {}) => judgeAnswer(ruleOf(options), call, answer);

describe('a reconcile rule that is data', () => {
  it('[R-16] finds the call in a list, and names it', () => {
    const answer = {
      payments: [
        { id: 'ch_41', reference: 'o-6' },
        { id: 'ch_42', reference: 'o-7' },
      ],
    };
    expect(judge(answer, { items: 'payments' })).toEqual({ verdict: 'done', how: 'list_payments lists it as ch_42' });
  });

  it('[R-16] gives the item, or a part of it, as the answer of the call', () => {
    const item = { number: 5, reference: 'o-7', receipt: { url: 'x' } };
    expect(judge([item], { result: 'item', named: 'number' })).toEqual({
      verdict: 'done',
      how: 'list_payments lists it as 5',
      result: { value: item },
    });
    expect(judge([item], { result: 'item.receipt' }).result).toEqual({ value: { url: 'x' } });
    expect(judge([item], { result: 'item.none' })).toEqual({ verdict: 'done', how: 'list_payments lists it' });
  });

  it('[R-16] says not_done only of a list that is whole and readable', () => {
    expect(judge([])).toEqual({ verdict: 'not_done', how: 'list_payments does not list it' });
    expect(judge([{ reference: 'o-8' }]).verdict).toBe('not_done');
    expect(judge({ items: [], nextCursor: 'x' }, { items: 'items' }).verdict).toBe('unknown');
    expect(judge({ items: [], has_more: true }, { items: 'items' }).verdict).toBe('unknown');
    expect(judge({ items: [], isComplete: false }, { items: 'items' }).verdict).toBe('unknown');
    expect(judge({ items: [], isComplete: true }, { items: 'items' }).verdict).toBe('not_done');
    expect(judge([{ reference: null }]).verdict).toBe('unknown');
    expect(judgeAnswer(ruleOf(), call, [], { _meta: { nextCursor: 'p2' } }).verdict).toBe('unknown');
    expect(judgeAnswer(ruleOf(), call, [], { _meta: {} }).verdict).toBe('not_done');
    expect(judge({ items: [], has_more: false, nextCursor: null }, { items: 'items' }).verdict).toBe('not_done');
    expect(judge([{ ref: 'o-8' }]).verdict).toBe('unknown');
  });

  it.each<[string, unknown]>([
    ['no list', { payments: [] }],
    ['nothing', undefined],
    ['a text', 'none'],
    ['several', [{ reference: 'o-7' }, { reference: 'o-7' }]],
    ['too many', Array.from({ length: 10_001 }, () => ({ reference: 'x' }))],
  ])('[R-16] takes %s for unknown', (_, answer) => {
    expect(judge(answer).verdict).toBe('unknown');
  });

  it('[R-16] compares numbers with their digits, and parts as a whole', () => {
    expect(judge([{ amount: '100' }], { match: { amount: 'input.amount' } }).verdict).toBe('done');
    expect(judge([{ of: { id: 3 } }], { match: { of: 'input.of' } }).verdict).toBe('done');
    expect(judge([{ of: { id: 4 } }], { match: { of: 'input.of' } }).verdict).toBe('not_done');
    expect(judge([{ kind: 'x', ok: true }], { match: { kind: { value: 'x' }, ok: true } }).verdict).toBe('done');
    expect(judge([{ key: 's1-1-1' }], { match: { key: 'call.id' } }).verdict).toBe('done');
  });

  it('[R-16] is unknown where the call has nothing to compare by', () => {
    expect(judge([], { match: { reference: 'input.none' } }).verdict).toBe('unknown');
  });

  it.each<[string | number | undefined, string]>([
    ['2026-05-01T12:00:00.500Z', 'done'],
    ['2026-05-01T12:00:07Z', 'done'],
    ['2026-05-01T12:00:00.400Z', 'unknown'],
    ['2026-05-01T11:59:00.500Z', 'unknown'],
    ['2026-05-01T11:59:00.499Z', 'not_done'],
    ['2026-04-30T12:00:00Z', 'not_done'],
    [startedAt + 1, 'done'],
    [Math.ceil(startedAt / 1000), 'done'],
    [Math.floor(startedAt / 1000) - 120, 'not_done'],
    ['some time', 'unknown'],
    [undefined, 'unknown'],
  ])('[R-16] tells this call from an equal one of before: made at %s it is %s', (at, verdict) => {
    expect(judge([{ reference: 'o-7', created_at: at }], { since: 'created_at' }).verdict).toBe(verdict);
  });

  it('[R-16] is unknown with one that is near beside one that fits', () => {
    const items = [
      { reference: 'o-7', at: startedAt - 10 },
      { reference: 'o-7', at: startedAt + 10 },
    ];
    expect(judge(items, { since: 'at' }).verdict).toBe('unknown');
    expect(judge(items, { since: 'at', clockToleranceMs: 0 }).verdict).toBe('done');
  });

  it('[R-16] asks with what the call has, or not at all', () => {
    const rule = ruleOf({ input: { ref: 'input.reference', limit: 5, from: 'call.startedAt' } });
    expect(questionOf(rule, call)).toEqual({ ref: 'o-7', limit: 5, from: '2026-05-01T12:00:00.500Z' });
    expect(questionOf(ruleOf({ input: { ref: 'input.none' } }), call)).toBeUndefined();
  });

  it('[R-16] reads own properties alone', () => {
    expect(valueAt({ a: [{ b: 1 }] }, 'a.0.b')).toBe(1);
    expect(valueAt({}, 'constructor.name')).toBeUndefined();
    expect(valueAt({}, '__proto__.toString')).toBeUndefined();
    expect(valueAt('text', 'length')).toBeUndefined();
  });
});

describe('the options of a reconcile rule', () => {
  it.each<[object, string]>([
    [{}, 'an object with probe, tool or idempotencyKey'],
    [{ tool: 'list' }, '`reconcile.match`'],
    [{ tool: 'list', match: {} }, '`reconcile.match`'],
    [{ tool: 'list', match: { a: 'process.env' } }, '`reconcile.match.a`'],
    [{ tool: 'list', match: { a: 'input.a' }, result: 'x' }, '`reconcile.result`'],
    [{ tool: 'list', match: { a: 'input.a' }, items: 'a..b' }, '`reconcile.items`'],
    [{ probe: () => 'done', tool: 'list', match: { a: 'input.a' } }, '`reconcile.tool`'],
    [{ probe: () => 'done', since: 'at' }, '`reconcile.since`'],
    [{ idempotencyKey: { in: 'body' } }, '`reconcile.idempotencyKey.in`'],
    [{ idempotencyKey: { in: 'meta' }, attempts: 2 }, '`reconcile.attempts`'],
    [{ probe: () => 'done', attempts: 0 }, '`reconcile.attempts`'],
    [{ probe: 'list' }, '`reconcile.probe`'],
    [{ probe: () => 'done', not_before: 5 }, 'notBefore'],
  ])('[R-16] refuses %j and names the option', (options, named) => {
    expect(() => readValue('reconcile', options, reconcileKey)).toThrow(named);
  });

  it('[R-16] are complete with their defaults', () => {
    expect(ruleOf({ notBefore: '30s' })).toMatchObject({
      notBeforeMs: 30_000,
      timeoutMs: 5000,
      attempts: 3,
      hold: 'input',
      clockToleranceMs: 60_000,
      named: 'id',
    });
  });
});

describe('a list that is not all there is', () => {
  const whole = [{}, { total: 1 }, { limit: 100 }, { pages: 1 }, { next: null }, { has_more: false }, { errors: [] }];
  it.each(whole.map((said) => [said]))('[R-16] is whole with %j', (said) => {
    expect(judge({ items: [{ reference: 'o-1' }], ...said }, { items: 'items' }).verdict).toBe('not_done');
  });

  it.each([
    [{ total: 5 }],
    [{ totalCount: '5' }],
    [{ truncated: true }],
    [{ IsTruncated: true }],
    [{ page: 1, pages: 2 }],
    [{ pagination: { page: 1, total_pages: 3 } }],
    [{ links: { next: '/list?page=2' } }],
    [{ meta: { next_cursor: 'x' } }],
    [{ '@odata.nextLink': 'x' }],
    [{ limit: 1 }],
    [{ errors: ['shard 2'] }],
  ])('[R-16] is unknown with %j', (said) => {
    expect(judge({ items: [{ reference: 'o-1' }], ...said }, { items: 'items' }).verdict).toBe('unknown');
  });
});

describe('the time of an item', () => {
  it.each(['2026-11-23', '2026-11-23T10:00Z', '2026-11-23T10:00:00', '2001', 0, -1, 'yesterday'])(
    '[R-16] is unknown as %j: it would be taken for one before the call',
    (created) => {
      expect(judge([{ reference: 'o-7', created }], { since: 'created' }).verdict).toBe('unknown');
    },
  );
});

describe('an answer of a probe', () => {
  const rule = { asks: 'its probe', answer: (value: unknown) => value };

  it('[R-16] that throws when it is read is no verdict', () => {
    const throwing = {
      get done(): never {
        throw new Error('boom');
      },
    };
    expect(findingOf(throwing, rule)).toEqual({ verdict: 'unknown', how: 'its probe gave no verdict' });
    expect(findingOf({ done: 1, how: `listed\nas ${'x'.repeat(5000)}` }, rule).how).toMatch(/^listed as x{1,300}$/);
  });
});

it('[R-16] nothing is known by an empty reference', () => {
  const items = [{ reference: '' }];
  expect(judgeAnswer(ruleOf(), { ...call, input: { reference: '' } }, items).verdict).toBe('unknown');
});

describe('canonical JSON', () => {
  it('[R-16] is the same for equal values, whatever the order of their keys', () => {
    expect(canonicalJson({ b: 1, a: [{ d: 1, c: undefined }] })).toBe('{"a":[{"d":1}],"b":1}');
    expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  });

  it('[R-16] is none of what is no JSON', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const value of [cycle, 1n, () => 1, undefined]) expect(canonicalJson(value)).toBeUndefined();
  });
});

describe('an idempotency key', () => {
  it('[R-16] is a UUID, and another one each time', () => {
    const keys = Array.from({ length: 1000 }, () => newIdempotencyKey(Math.random, startedAt));
    expect(new Set(keys).size).toBe(1000);
    for (const key of keys)
      expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
