import { describe, expect, it } from 'vitest';
import { failureOfAnswer } from '../../../proxy/api/failedAnswer.ts';
import { ownAnswer } from '../../../proxy/api/ending.ts';
import type { Failure } from '../../../src/policy/failures/failure.ts';

const failure: Failure = {
  integration: 'api',
  kind: 'circuit_open',
  message: 'it is open',
  outcome: 'not_started',
  attempts: 0,
  retryable: true,
};

describe('an answer of the proxy itself', () => {
  it.each([
    [59_001, '60'],
    [600_000, '60'],
    [400, '1'],
    [0, '1'],
    [undefined, '1'],
  ])('[E-7] to a request that may come again in %s ms asks for a wait of %s s', (retryAfterMs, seconds) => {
    expect(ownAnswer({ ...failure, retryAfterMs }, 'messages', false, 'claude').headers['retry-after']).toBe(seconds);
  });

  it.each([
    ['quota', undefined, undefined],
    ['quota', 5000, undefined],
    ['rate_limit', 60_001, undefined],
    ['rate_limit', 60_000, '60'],
  ] as const)('[E-7] gives Codex no wait of a limit that is long: %s, %s ms', (kind, retryAfterMs, seconds) => {
    const { status, headers } = ownAnswer({ ...failure, kind, retryAfterMs }, 'responses', true, 'codex');
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe(seconds);
    expect(ownAnswer({ ...failure, kind, retryAfterMs }, 'messages', true, 'claude').headers).toHaveProperty(
      'retry-after',
    );
  });
});

describe('a quota that an answer tells', () => {
  it('[E-7] is asked about again after a minute at the latest', () => {
    const answer = { status: 429, headers: { 'retry-after': '3600' }, body: '{}' };
    expect(failureOfAnswer(answer, 0, 60_000)).toMatchObject({ kind: 'quota', retryAfterMs: 60_000 });
    expect(failureOfAnswer(answer, 0, 7_200_000)).toMatchObject({ kind: 'rate_limit', retryAfterMs: 3_600_000 });
  });
});
