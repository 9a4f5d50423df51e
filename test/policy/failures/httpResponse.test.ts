import { describe, expect, it } from 'vitest';
import { type Failure, type FailureKind, failureKinds } from '../../../src/policy/failures/failure.ts';
import { httpResponseOf } from '../../../src/policy/failures/httpResponse.ts';

const failure = (kind: FailureKind, more: Partial<Failure> = {}): Failure => ({
  kind,
  message: 'no',
  outcome: 'failed',
  integration: 'kb',
  attempts: 1,
  retryable: false,
  ...more,
});

describe('the HTTP response to a failure', () => {
  it.each<[number, FailureKind[]]>([
    [503, ['circuit_open', 'rate_limit', 'too_many_requests', 'unavailable', 'overloaded', 'quota']],
    [504, ['timeout', 'watchdog']],
    [502, ['transient', 'crash', 'protocol', 'auth']],
    [500, ['unknown', 'spawn']],
    [422, ['permanent']],
    [499, ['cancelled']],
  ])('[U-1] is %i for %j', (status, kinds) => {
    expect(kinds.map((kind) => httpResponseOf(failure(kind)).status)).toEqual(kinds.map(() => status));
  });

  it('[U-1] is there for every kind, and what Response takes', () => {
    for (const kind of Object.keys(failureKinds) as FailureKind[]) {
      const { status, headers } = httpResponseOf(failure(kind, { retryAfterMs: 5 }));
      expect(new Response('no', { status, headers }).status).toBe(status);
    }
  });

  it.each([
    [404, 404],
    [413, 413],
    [401, 422],
    [200, 422],
    [undefined, 422],
  ])('[U-1] passes on the status of a permanent failure that concerns the client: %s as %i', (status, expected) => {
    expect(httpResponseOf(failure('permanent', { status })).status).toBe(expected);
    expect(httpResponseOf(failure('transient', { status })).status).toBe(502);
  });

  it.each([
    [0, '0'],
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [60_000, '60'],
  ])('[R-3] says when to come again, in whole seconds: %i ms as %s', (retryAfterMs, seconds) => {
    expect(httpResponseOf(failure('circuit_open', { retryAfterMs })).headers).toEqual({ 'retry-after': seconds });
  });

  it('[U-1] is 503 for what ends with the host', () => {
    expect(httpResponseOf(failure('cancelled', { reason: 'stopped' })).status).toBe(503);
  });

  it('[R-3] does not where that is not known', () => {
    expect(httpResponseOf(failure('circuit_open')).headers).toEqual({});
  });
});
