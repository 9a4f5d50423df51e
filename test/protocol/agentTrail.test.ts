import { describe, expect, it } from 'vitest';
import type { FailureFacts } from '../../src/policy/failures/failure.ts';
import type { AgentEffects } from '../../src/protocol/agentReport.ts';
import { AgentTrail } from '../../src/protocol/agentTrail.ts';

const attempt = (effects: AgentEffects, sessionId?: string) => ({
  report: () => ({ agent: 'claude' as const, concluded: false, effects, sessionId }),
});

function trailOf(...attempts: readonly ReturnType<typeof attempt>[]): AgentTrail {
  const trail = new AgentTrail(() => 0);
  for (const each of attempts) trail.begin(each);
  return trail;
}

describe('what the attempts of a call leave', () => {
  it.each([
    [[], 'none', undefined],
    [[attempt('none', 'a')], 'none', 'a'],
    [[attempt('none', 'a'), attempt('none', 'b')], 'none', 'b'],
    [[attempt('possible', 'a'), attempt('none', 'b')], 'possible', 'a'],
    [[attempt('possible', 'a'), attempt('none')], 'possible', 'a'],
    [[attempt('possible', 'a'), attempt('possible', 'b')], 'possible', 'b'],
    [[attempt('none', 'a'), attempt('possible', 'b'), attempt('none', 'c')], 'possible', 'b'],
    [[attempt('possible'), attempt('unknown')], 'possible', undefined],
    [[attempt('unknown'), attempt('none', 'b')], 'unknown', 'b'],
  ] as const)('[R-12] is that of all of them: %#', (attempts, effects, sessionId) => {
    expect(trailOf(...attempts).left).toEqual({ effects, ...(attempts.length > 0 && { sessionId }) });
  });

  it('[R-12] is not that of one that was never started', () => {
    const trail = trailOf(attempt('none', 'a'), attempt('unknown'));
    trail.forget();
    expect(trail.left).toEqual({ effects: 'none', sessionId: 'a' });
  });
});

const refused: FailureFacts = { kind: 'overloaded', message: 'x', outcome: 'failed' };
const next = { effect: undefined, resumable: false };

describe('a failed attempt of an agent', () => {
  it.each([
    ['none', {}, { outcome: 'failed' }],
    ['possible', {}, { outcome: 'unknown', shouldRetry: false }],
    ['possible', { resumable: true }, { outcome: 'unknown', resumable: true }],
    ['possible', { effect: 'idempotent' }, { outcome: 'unknown' }],
    ['possible', { asked: true }, { outcome: 'unknown' }],
    ['unknown', {}, { outcome: 'unknown', shouldRetry: false }],
    ['unknown', { resumable: true }, { outcome: 'unknown', shouldRetry: false }],
    ['unknown', { effect: 'readOnly' }, { outcome: 'unknown' }],
    ['unknown', { effect: 'mutating', asked: true }, { outcome: 'unknown' }],
  ] as const)('[R-12] whose effect is %s, and the next one %j, is %j', (effects, more, expected) => {
    expect(trailOf(attempt(effects)).judge(refused, { ...next, ...more })).toEqual({ ...refused, ...expected });
  });

  it.each([
    { kind: 'transient', message: 'x', outcome: 'not_started' },
    { kind: 'cancelled', message: 'x', outcome: 'cancelled' },
    { kind: 'spawn', message: 'x', outcome: 'failed' },
  ] as const)('[R-12] that was none is left as it is: %j', (facts) => {
    expect(trailOf(attempt('unknown')).judge(facts, next)).toBe(facts);
  });

  it.each([
    ['possible', {}],
    ['possible', { resumable: true, effect: 'mutating' }],
  ] as const)('[R-12] that acted while it ended (%s, %j) forbids the next one', (effects, more) => {
    expect(() => trailOf(attempt(effects)).refuseRepetition({ ...next, ...more })).toThrow(/not tried again/);
  });

  it.each([
    ['possible', { resumable: true }],
    ['possible', { effect: 'idempotent' }],
    ['possible', { asked: true }],
    ['unknown', {}],
    ['none', {}],
  ] as const)('[R-12] that is over (%s, %j) allows the next one', (effects, more) => {
    expect(() => trailOf(attempt(effects)).refuseRepetition({ ...next, ...more })).not.toThrow();
  });
});
