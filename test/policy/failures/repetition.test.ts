import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../src/policy/effects.ts';
import { isRetryable, mayRetry } from '../../../src/policy/failures/repetition.ts';
import {
  type EffectOutcome,
  type FailureFacts,
  type FailureKind,
  failureKinds,
} from '../../../src/policy/failures/failure.ts';

const bold = { repeatAfter: 'lost', retryUnknown: false } as const;
const careful = { repeatAfter: 'refused', retryUnknown: false } as const;
const facts = (kind: FailureKind, outcome: EffectOutcome, shouldRetry?: boolean): FailureFacts => ({
  kind,
  outcome,
  message: 'no',
  shouldRetry,
});

describe('whether a failed attempt may be repeated', () => {
  it('[R-12] follows table 1 where the call was refused before dispatch', () => {
    for (const kind of Object.keys(failureKinds) as FailureKind[]) {
      expect(mayRetry(facts(kind, 'not_started'), 'mutating', careful)).toBe(failureKinds[kind].retried);
    }
  });

  it.each(['timeout', 'crash', 'transient'] as const)('[R-12] asks the effect after a lost answer (%s)', (kind) => {
    const lost = facts(kind, 'unknown');
    expect(mayRetry(lost, 'readOnly', careful)).toBe(true);
    expect(mayRetry(lost, 'idempotent', careful)).toBe(true);
    expect(mayRetry(lost, 'mutating', bold)).toBe(false);
  });

  it('[R-12] leaves a call of unspecified effect to the policy', () => {
    expect(mayRetry(facts('timeout', 'unknown'), undefined, bold)).toBe(true);
    expect(mayRetry(facts('timeout', 'unknown'), undefined, careful)).toBe(false);
  });

  it('[R-12] lets a call go on that goes on where it ended, but never a mutating one', () => {
    const resumable = { ...facts('crash', 'unknown'), resumable: true } as const;
    expect(mayRetry(resumable, undefined, careful)).toBe(true);
    expect(mayRetry(resumable, 'mutating', bold)).toBe(false);
  });

  it('[R-12] [G-13] calls not retryable what only went on where it ended, unless repeating was declared harmless', () => {
    const acted = { ...facts('overloaded', 'unknown'), resumable: true } as const;
    expect(isRetryable(acted, undefined, 'lost')).toBe(false);
    expect(isRetryable(acted, 'mutating', 'lost')).toBe(false);
    expect(isRetryable(acted, 'idempotent', 'lost')).toBe(true);
    expect(isRetryable({ ...acted, resumable: undefined }, undefined, 'lost')).toBe(true);
  });

  it('[R-12] repeats a mutating call that the other side refused', () => {
    expect(mayRetry(facts('rate_limit', 'failed'), 'mutating', careful)).toBe(true);
  });

  it('[R-5] repeats an unknown failure only where the policy says so', () => {
    expect(mayRetry(facts('unknown', 'failed'), 'readOnly', bold)).toBe(false);
    expect(mayRetry(facts('unknown', 'failed'), 'readOnly', { ...bold, retryUnknown: true })).toBe(true);
  });

  it('[R-3] does as the other side says', () => {
    expect(mayRetry(facts('rate_limit', 'failed', false), 'readOnly', bold)).toBe(false);
    expect(mayRetry(facts('quota', 'failed', true), 'readOnly', bold)).toBe(true);
  });

  it('[R-12] [L-5] repeats what ended with a restart by hand as after a crash, but nothing else that somebody ended', () => {
    const restarted = { ...facts('cancelled', 'unknown'), reason: 'restarted' } as const;
    expect(mayRetry(restarted, 'readOnly', careful)).toBe(true);
    expect(mayRetry(restarted, 'mutating', bold)).toBe(false);
    expect(mayRetry({ ...restarted, reason: 'stopped' }, 'readOnly', bold)).toBe(false);
    expect(isRetryable(restarted, 'readOnly', 'refused')).toBe(true);
  });

  it.each<[FailureKind, Effect | undefined]>([
    ['auth', 'readOnly'],
    ['permanent', 'readOnly'],
    ['cancelled', 'readOnly'],
    ['transient', 'mutating'],
  ])('[R-3] is not talked into repeating %s of a %s call', (kind, effect) => {
    expect(mayRetry(facts(kind, 'unknown', true), effect, bold)).toBe(false);
    expect(isRetryable(facts(kind, 'unknown', true), effect, 'lost')).toBe(false);
  });

  it('[R-3] [R-7] calls auth and permanent failures retryable where a time is named, and not where the other side says no', () => {
    const later = { ...facts('auth', 'failed'), retryAfterMs: 30_000 };
    expect(isRetryable(later, 'readOnly', 'refused')).toBe(true);
    expect(isRetryable({ ...later, shouldRetry: false }, 'readOnly', 'refused')).toBe(false);
  });
});
