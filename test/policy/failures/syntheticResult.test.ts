import { describe, expect, it } from 'vitest';
import { effects, repeatChoices } from '../../../src/policy/effects.ts';
import {
  type EffectOutcome,
  type Failure,
  type FailureKind,
  failureKinds,
} from '../../../src/policy/failures/failure.ts';
import { isRetryable } from '../../../src/policy/failures/repetition.ts';
import { syntheticResult } from '../../../src/policy/failures/syntheticResult.ts';

const failure = (given: Partial<Failure>): Failure => ({
  kind: 'timeout',
  message: 'No answer within 300000 ms',
  outcome: 'unknown',
  integration: 'kb',
  attempts: 2,
  retryable: true,
  ...given,
});

describe('a synthetic result', () => {
  it('[G-13] carries what is known', () => {
    expect(syntheticResult(failure({ retryAfterMs: 5000 }), 300_000)).toMatchObject({
      status: 'error',
      synthetic: true,
      kind: 'timeout',
      outcome: 'unknown',
      elapsedMs: 300_000,
      attempts: 2,
      retryable: true,
      retryAfterMs: 5000,
    });
  });

  it('[G-13] says of a limit on one attempt of several how long all of them took', () => {
    const told = (given: Partial<Failure>): string =>
      syntheticResult(failure({ message: 'No answer within 4s', attempts: 4, ...given }), 23_140).error;
    expect(told({})).toMatch(/^No answer within 4s \(the last of 4 attempts, 23\.1s in all\): outcome unknown/);
    expect(told({ attempts: 1 })).toMatch(/^No answer within 4s: outcome/);
    expect(told({ reason: 'overall_timeout' })).toMatch(/^No answer within 4s: outcome/);
    expect(told({ kind: 'crash' })).toMatch(/^No answer within 4s: outcome/);
  });

  it('[G-13] has no time to try again where none is known', () => {
    expect(syntheticResult(failure({}), 1)).not.toHaveProperty('retryAfterMs');
  });

  it('[G-13] tells its time in whole ms', () => {
    expect(syntheticResult(failure({}), 3969.697).elapsedMs).toBe(3970);
  });

  it('[G-13] offers a call for repeating as it is exactly where it is retryable, whatever ended it', () => {
    const outcomes: readonly EffectOutcome[] = ['not_started', 'failed', 'unknown', 'cancelled', 'done', 'not_done'];
    const offers = (text: string): boolean =>
      /it may be tried again|try again in/.test(text) && !/check before|after that|find out|not expected/.test(text);
    const different: unknown[] = [];
    for (const kind of Object.keys(failureKinds) as FailureKind[])
      for (const outcome of outcomes)
        for (const effect of [undefined, ...effects])
          for (const repeatAfter of repeatChoices)
            for (const shouldRetry of [undefined, true, false])
              for (const retryAfterMs of [undefined, 30_000]) {
                const end = { kind, outcome, shouldRetry, retryAfterMs };
                const isOpen = outcome === 'unknown' || outcome === 'cancelled';
                const told = failure({
                  ...end,
                  retryable: isRetryable(end, effect, repeatAfter),
                  ...(isOpen && { effect }),
                });
                const { error, retryable } = syntheticResult(told, 1);
                if (offers(error) !== retryable || retryable !== told.retryable)
                  different.push({ ...end, effect, repeatAfter, retryable, said: error });
              }
    expect(different).toEqual([]);
  });

  it('[G-13] takes nothing for retryable that it tells not to repeat, whoever made the failure', () => {
    expect(syntheticResult(failure({ outcome: 'done' }), 1).retryable).toBe(false);
    expect(syntheticResult(failure({ effect: 'mutating' }), 1).retryable).toBe(false);
  });

  it('[G-13] says that the policy lets a call be repeated whose effect nobody has declared', () => {
    expect(syntheticResult(failure({ kind: 'transient' }), 1).error).toMatch(
      /: outcome unknown; it may have taken effect; its policy allows to repeat it: it may be tried again\.$/,
    );
  });

  it('[G-13] warns before repeating what may have taken effect', () => {
    const { error } = syntheticResult(failure({ retryable: false }), 1);
    expect(error).toContain('outcome unknown; it may have taken effect, check before repeating');
  });

  it.each([
    ['readOnly', 'unknown', 'no answer came; it changes nothing, so it may be tried again.'],
    ['readOnly', 'cancelled', 'it was ended before an answer came; it changes nothing, so it may be tried again.'],
    ['idempotent', 'cancelled', 'it may have taken effect, which repeating does not do twice; it may be tried again.'],
    [
      'mutating',
      'cancelled',
      'it may have taken effect; it is declared mutating: find out whether it happened before you call it again.',
    ],
    [
      'mutating',
      'unknown',
      'it may have taken effect; it is declared mutating: find out whether it happened before you call it again.',
    ],
    ['readOnly', 'not_started', 'it was not started; it may be tried again.'],
    ['mutating', 'failed', 'it failed; it may be tried again.'],
  ] as const)('[G-13] says of a %s call whose outcome is %s what can have happened', (effect, outcome, end) => {
    expect(syntheticResult(failure({ effect, outcome }), 1).error).toMatch(new RegExp(`[:;] ${end}$`));
  });

  it('[G-13] says of a call whose effect nobody has declared to check first', () => {
    expect(syntheticResult(failure({ outcome: 'cancelled', retryable: false }), 1).error).toMatch(
      /it may have taken effect, check before repeating; after that it may be tried again\.$/,
    );
  });

  it('[G-13] says of a declared one that was sent once that it was not repeated', () => {
    expect(syntheticResult(failure({ effect: 'mutating', attempts: 1 }), 1).error).toContain(
      'outcome unknown; it may have taken effect; it is declared mutating and was not repeated: find out',
    );
  });

  it('[G-13] says of a declared one when it may be called again, and claims no single attempt of several', () => {
    const given = { effect: 'mutating', attempts: 3, retryAfterMs: 30_000, retryable: false } as const;
    expect(syntheticResult(failure(given), 1).error).toMatch(
      /; it is declared mutating: find out whether it happened before you call it again in 30s\.$/,
    );
  });

  it('[G-13] says that it was an earlier attempt which may have taken effect, where the last one did not', () => {
    const given = { kind: 'overloaded', message: 'HTTP 503', lastOutcome: 'failed', retryAfterMs: 30_000 } as const;
    expect(syntheticResult(failure({ ...given, retryable: false }), 1).error).toBe(
      'HTTP 503: outcome unknown; an earlier attempt may have taken effect, check before repeating; after that try again in 30s.',
    );
    expect(syntheticResult(failure({ ...given, effect: 'idempotent' }), 1).error).toBe(
      'HTTP 503: outcome unknown; an earlier attempt may have taken effect, which repeating does not do twice; try again in 30s.',
    );
  });

  it.each([
    [{ retryAfterMs: 30_000 }, 'try again in 30s.'],
    [{ outcome: 'not_started' as const }, 'it was not started; it may be tried again.'],
    [{ outcome: 'failed' as const, retryable: false }, 'it failed; trying the same again is not expected to help.'],
  ])('[G-13] says whether and when to try again (%j)', (given, end) => {
    expect(syntheticResult(failure(given), 1).error.endsWith(end)).toBe(true);
  });

  it('[G-13] speaks of no user and no cancelling unless the call was cancelled', () => {
    for (const kind of ['timeout', 'crash', 'watchdog', 'circuit_open', 'unavailable'] as const) {
      expect(syntheticResult(failure({ kind }), 1).error).not.toMatch(/cancel|user|reject/i);
    }
  });

  it('[G-13] is one line of bounded length', () => {
    const { error } = syntheticResult(failure({ message: `${'long\n'.repeat(1000)}` }), 1);
    expect(error).not.toContain('\n');
    expect(error.length).toBeLessThan(700);
  });
});
