import { describe, expect, it } from 'vitest';
import { type Failure, failureKinds, IntegrationError, unwrap } from '../../../src/policy/failures/failure.ts';

const cause = new Error('read ECONNRESET');
const failure: Failure = {
  kind: 'transient',
  message: 'read ECONNRESET',
  outcome: 'unknown',
  integration: 'kb',
  attempts: 4,
  retryable: true,
  cause,
};

describe('a failure', () => {
  it('[R-7] is a value that throws nothing by itself', () => {
    expect(unwrap({ ok: true, value: 5 })).toBe(5);
  });

  it('[R-7] is throwable for who wants it, and keeps its cause', () => {
    const thrown = (() => {
      try {
        return unwrap({ ok: false, failure });
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(IntegrationError);
    expect(thrown).toMatchObject({ name: 'IntegrationError', message: 'read ECONNRESET', failure, cause });
  });

  it('[R-5] has a kind of table 1, which says what is retried', () => {
    const retried = Object.entries(failureKinds).filter(([, row]) => row.retried);
    expect(retried.map(([kind]) => kind)).toEqual(['transient', 'overloaded', 'rate_limit', 'timeout', 'crash']);
  });

  it('[M-4] has a kind of table 1, which says what the breaker makes of it', () => {
    const of = (outcome: string) => Object.entries(failureKinds).filter(([, row]) => row.breaker === outcome);
    expect(of('alive').map(([kind]) => kind)).toEqual(['auth', 'permanent']);
    expect(of('ignored').map(([kind]) => kind)).toEqual([
      'rate_limit',
      'cancelled',
      'circuit_open',
      'too_many_requests',
      'unavailable',
      'spinning',
    ]);
  });

  it('[O-3] has a kind of table 1, which says what counts for alerts', () => {
    const silent = Object.entries(failureKinds).filter(([, row]) => !row.alerts);
    expect(silent.map(([kind]) => kind)).toEqual([
      'permanent',
      'cancelled',
      'circuit_open',
      'too_many_requests',
      'unavailable',
    ]);
  });
});
