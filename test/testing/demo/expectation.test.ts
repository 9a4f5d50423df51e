import { describe, expect, it } from 'vitest';
import type { Expected } from '../../../testing/demo/fault.ts';
import { differences, type Observed } from '../../../testing/demo/expectation.ts';
import type { ToolResult } from '../../../src/index.ts';
import type { EventRow } from '../../../src/store/events.ts';

const row = (type: string, metadata: Record<string, unknown> = {}): EventRow => {
  const [category = '', name = ''] = type.split('/');
  return { id: 1, at: 0, category, type: name, metadata };
};
const failureRow = row('integration/failure', { integration: 'api', kind: 'transient', error: 'HTTP 503' });
const error: ToolResult = { status: 'error', error: 'HTTP 503', retries: 2, recoverable: false };

const expected: Expected = {
  outcome: 'transient',
  retries: [2, 2],
  cause: 'HTTP 503',
  waitsMs: [100, 500],
  leastMs: 600,
  mostMs: 5000,
  records: [{ type: 'integration/failure', fields: { kind: 'transient' } }],
};
const observed: Observed = {
  integration: 'api',
  answer: { ok: true, value: error },
  elapsedMs: 610,
  retries: [
    { message: 'HTTP 503', delayMs: 100 },
    { message: 'HTTP 503', delayMs: 500 },
  ],
  wentOn: true,
  records: [failureRow],
};
const ok: Expected = { outcome: 'ok', retries: [0, 0], mostMs: 1000, records: [] };
const fine: Observed = {
  ...observed,
  answer: { ok: true, value: { status: 'ok', value: 1, retries: 0 } },
  retries: [],
  records: [],
};

describe('the verdict on a fault', () => {
  it('is empty for a failure and for a success that are as expected', () => {
    expect(differences(expected, observed)).toEqual([]);
    expect(differences(ok, fine)).toEqual([]);
  });

  it('says why the caller got nothing', () => {
    const answer = { ok: false, why: 'no answer within 5000 ms' } as const;
    expect(differences(expected, { ...observed, answer })).toEqual(['no answer within 5000 ms']);
  });

  it('names another outcome, with the failure', () => {
    expect(differences({ ...expected, outcome: 'auth' }, observed)).toEqual([
      'expected auth, got transient (HTTP 503)',
    ]);
  });

  it('names a failure where a result was expected, and the record it left', () => {
    expect(differences({ ...ok, mostMs: 5000, retries: [0, 2] }, observed)).toEqual([
      'expected ok, got transient (HTTP 503)',
      'expected 0 final failures in the database, found 1',
    ]);
  });

  it('wants a synthetic result exactly where one is expected', () => {
    const answer: Observed['answer'] = {
      ok: true,
      value: {
        ...error,
        synthetic: true,
        kind: 'timeout',
        outcome: 'unknown',
        elapsedMs: 1,
        attempts: 3,
        retryable: true,
      },
    };
    expect(differences({ ...expected, synthetic: true }, { ...observed, answer })).toEqual([]);
    expect(differences(expected, { ...observed, answer })).toEqual(['the result is synthetic']);
    expect(differences({ ...expected, synthetic: true }, observed)).toEqual(['the result is not synthetic']);
  });

  it('counts the retries from both sides', () => {
    expect(differences({ ...expected, retries: [0, 1] }, observed)).toEqual(['expected 0 to 1 retries, got 2']);
    expect(differences({ ...expected, retries: [3, 3] }, observed)).toEqual(['expected 3 retries, got 2']);
  });

  it('compares the waits between attempts', () => {
    const retries = observed.retries.slice(0, 1);
    expect(differences(expected, { ...observed, retries })).toEqual(['expected waits of 100, 500 ms, got 100']);
  });

  it('wants the first retry to follow what was done', () => {
    expect(differences({ ...expected, cause: '1006' }, observed)).toEqual([
      'expected a retry after "1006", got one after "HTTP 503"',
    ]);
  });

  it('takes no call that is early or late', () => {
    expect(differences(expected, { ...observed, elapsedMs: 595 })).toEqual([]);
    expect(differences(expected, { ...observed, elapsedMs: 594 })).toHaveLength(1);
    expect(differences(expected, { ...observed, elapsedMs: 5000 })).toEqual([]);
    expect(differences(expected, { ...observed, elapsedMs: 5001 })).toHaveLength(1);
  });

  it('wants the session to go on', () => {
    expect(differences(ok, { ...fine, wentOn: false })).toEqual(['the session did not answer its next message']);
  });

  it('names the record that is not in the database', () => {
    const records = [{ type: 'hook/error', fields: { hook_name: 'guard' } }];
    const other = row('hook/error', { hook_name: 'audit' });
    expect(differences({ ...ok, records }, { ...fine, records: [other] })).toEqual([
      'not in the database: hook/error hook_name=guard',
    ]);
  });

  it('wants one final record of a failed call, neither none nor two', () => {
    expect(differences(expected, { ...observed, records: [failureRow, failureRow] })).toEqual([
      'expected 1 final failures in the database, found 2',
    ]);
    expect(differences(expected, { ...observed, records: [] })).toContain(
      'expected 1 final failures in the database, found 0',
    );
  });
});
