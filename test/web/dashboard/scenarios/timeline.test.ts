import { describe, expect, it } from 'vitest';
import { recordedRows } from '../../../../web/dashboard/browser/recordedRows.ts';
import { liveRows } from '../../../../web/dashboard/browser/timelineRows.ts';
import { scaleOf } from '../../../../web/dashboard/browser/timelineScale.ts';
import type { SessionWhy, ToolCallWhy } from '../../../../src/sessions/why.ts';

const begunAt = 1_000_000;

function whyWith(more: Partial<SessionWhy>): SessionWhy {
  return {
    ...{ session: 's', state: 'processing', waiting: 0, heldElsewhere: false, calls: [], questions: [], rules: [] },
    turn: { turn: 12, message: 's-m31', kind: 'user', delivery: 1, sinceMs: 60_000, waitedMs: 6000 },
    ...more,
  };
}

const pending = (progress: ToolCallWhy['progress']): ToolCallWhy => ({
  ...{ call: 's-12-1', integration: 'crm', tool: 'update', sinceMs: 20_000, progress },
});

describe('the timeline of a turn', () => {
  it('[O-13] begins with its message: the mailbox, then the turn, which goes on', () => {
    const [row] = liveRows(whyWith({}), begunAt);
    expect(row?.segments).toMatchObject([
      { look: 'mail', from: begunAt - 6000, to: begunAt },
      { look: 'turn', from: begunAt },
    ]);
    expect(row?.segments[1]?.to).toBeUndefined();
  });

  it('[O-13] shows attempts with their errors, the wait between them, and a wait that lasts with the rule that ends it', () => {
    const failure = { kind: 'overloaded', message: '503 Service Unavailable' } as const;
    const progress = {
      ...({ phase: 'backoff', attempt: 1, maxAttempts: 4, phaseMs: 4000 } as const),
      trail: [{ state: 'attempt', tookMs: 16_000, endedAgoMs: 4000, failure } as const],
      next: { id: '1:backoff', rule: 'next_attempt', inMs: 4000 } as const,
    };
    const [, row] = liveRows(whyWith({ calls: [pending(progress)] }), begunAt);
    const from = begunAt + 40_000;
    expect(row).toMatchObject({
      ...{ title: 'crm · update', sub: 'attempt 1 of 4', isPending: true },
      segments: [
        { look: 'fail', from, to: from + 16_000, title: 'Attempt 1: overloaded: 503 Service Unavailable' },
        { look: 'back', from: from + 16_000, text: 'backing off' },
      ],
      ...{ marks: [{ at: begunAt + 64_000, text: 'attempt 2' }], note: '1: overloaded: 503 Service Unavailable' },
      ...{ state: ['clock', 'warn', 'backing off'], rule: { text: 'attempt 2', at: begunAt + 64_000 } },
    });
  });

  it('[O-13] has a place for whether a call happened, in the colour of what is not known yet', () => {
    const progress = {
      ...{ phase: 'reconciling' as 'backoff', attempt: 2, maxAttempts: 3, phaseMs: 1000 },
      next: { id: 'overall_timeout', rule: 'overall_timeout', inMs: 18_000 } as const,
    };
    const [, row] = liveRows(whyWith({ calls: [pending(progress)] }), begunAt);
    expect([row?.segments[0]?.look, row?.state]).toEqual(['ask', ['ask', 'wait', 'did it happen?']]);
  });

  it.each([
    ['succeeded', { ok: true, attempts: 2 }, ['good'], ['ok', 'ok', 'succeeded']],
    ['refused', { ok: false, attempts: 0, synthetic: true }, ['syn'], ['cross', 'bad', 'refused']],
    ['failed', { ok: false, attempts: 1 }, ['fail'], ['cross', 'bad', 'failed']],
    ['cut', { ok: false, attempts: 1, synthetic: true }, ['fail', 'syn'], ['cross', 'bad', 'synthetic result']],
  ])('[O-13] shows how a call ended: %s', (_what, how, looks, state) => {
    const failure = how.ok ? undefined : ({ kind: 'timeout', message: 'silent' } as const);
    const call = {
      call: 'c',
      integration: 'kb',
      tool: 'find',
      sinceMs: 9000,
      endedAgoMs: 5000,
      trail: [],
      failure,
      ...how,
    };
    const [, row] = liveRows(whyWith({ ended: [call] }), begunAt);
    expect([row?.segments.map(({ look }) => look), row?.state]).toEqual([looks, state]);
    expect(row?.segments.every(({ to }) => to !== undefined)).toBe(true);
  });

  it('[O-13] tells a last attempt that failed once', () => {
    const failure = { kind: 'transient', message: 'reset' } as const;
    const trail = [{ state: 'attempt', tookMs: 4000, endedAgoMs: 5000, failure } as const];
    const call = {
      call: 'c',
      integration: 'kb',
      tool: 'find',
      sinceMs: 9000,
      endedAgoMs: 5000,
      ok: false,
      attempts: 1,
    };
    const [, row] = liveRows(whyWith({ ended: [{ ...call, trail, failure }] }), begunAt);
    expect([row?.segments.length, row?.note]).toEqual([1, '1: transient: reset']);
  });

  it('[O-13] of the record shows when calls began and ended, and says what the record does not', () => {
    const [turn, call, lost] = recordedRows({
      ...{ turn: 3, message: 's-m3', kind: 'user', state: 'taken', postedAt: 100, takenAt: 200 },
      calls: [
        { call: 'a', integration: 'kb', tool: 'find', startedAt: 300, settledAt: 400, ok: true, attempts: 3 },
        { call: 'b', integration: 'kb', tool: 'find', startedAt: 350 },
      ],
    });
    expect(turn?.state[2]).toBe('end not on record');
    expect(call).toMatchObject({ sub: '3 attempts', segments: [{ look: 'good', from: 300, to: 400 }] });
    expect([lost?.state[2], lost?.stateNote]).toEqual(['no result on record', '']);
  });
});

describe('the scale of a timeline', () => {
  it('[O-13] keeps the order of times, from border to border', () => {
    const { x } = scaleOf([5000, 0, 2000, 2000]);
    expect([x(-1), x(0), x(5000), x(9999)]).toEqual([0, 0, 100, 100]);
    expect(x(2000)).toBeCloseTo(40);
    expect(x(1000)).toBeCloseTo(20);
  });

  it('[O-13] folds stretches in which nothing changed', () => {
    const { x, folds } = scaleOf([0, 1000, 2000, 3000, 4000, 5000, 600_000, 601_000, 602_000]);
    expect(folds).toHaveLength(1);
    expect(x(5000)).toBeGreaterThan(30);
    expect(x(600_000) - x(5000)).toBeLessThan(40);
  });

  it('[O-13] labels no two times so near that they would run into each other', () => {
    const { ticks } = scaleOf(Array.from({ length: 200 }, (_, index) => index * 10));
    const gaps = ticks.slice(1).map(({ left }, index) => left - (ticks[index]?.left ?? 0));
    expect(ticks.length).toBeGreaterThan(5);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(9);
  });

  it('[O-13] of one moment, or of none, is no reason to fail', () => {
    expect([scaleOf([]).x(5), scaleOf([7]).x(9)]).toEqual([0, 0]);
  });
});
