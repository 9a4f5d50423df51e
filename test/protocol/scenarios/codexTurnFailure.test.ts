import { describe, expect, it } from 'vitest';
import { turnFailure, turnInterrupted } from '../../../agents/codex/protocol/codexFailures.ts';
import { readTurnError } from '../../../agents/codex/protocol/notifications.ts';

const failure = (error: unknown, effects: 'none' | 'possible' = 'none') =>
  turnFailure(readTurnError(error), effects, 0);
const http = (word: string, httpStatusCode: number | null) => ({ [word]: { httpStatusCode } });

describe('a turn that failed', () => {
  it.each([
    [
      http('responseTooManyFailedAttempts', 429),
      'exceeded retry limit, last status: 429 Too Many Requests',
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'usageLimitExceeded',
      'You’ve hit your usage limit. Try again in 2 hours.',
      { kind: 'quota', retryAfterMs: 7_200_000 },
    ],
    ['bioPolicy', 'This request was stopped. Try again later.', { kind: 'permanent' }],
    ['threadRollbackFailed', 'The thread could not be rolled back: timed out', { kind: 'permanent' }],
    [{ activeTurnNotSteerable: { turnKind: 'review' } }, 'The active turn cannot be steered', { kind: 'permanent' }],
    ['wordOfTomorrow', 'unexpected status 503 Service Unavailable: x', { kind: 'transient' }],
    [{ wordOfTomorrow: { httpStatusCode: 429 } }, 'slow down', { kind: 'rate_limit', status: 429 }],
    ['wordOfTomorrow', 'what nobody has said before', { kind: 'unknown' }],
    ['usageLimitExceeded', 'Quota exceeded. Check your plan and billing details.', { kind: 'quota' }],
    [
      http('httpConnectionFailed', 503),
      'unexpected status 503 Service Unavailable: x',
      { kind: 'transient', status: 503 },
    ],
    [
      http('httpConnectionFailed', 529),
      'unexpected status 529 <unknown status code>: x',
      { kind: 'overloaded', status: 529 },
    ],
    [
      'internalServerError',
      'We’re currently experiencing high demand, which may cause temporary errors.',
      { kind: 'overloaded' },
    ],
    ['serverOverloaded', 'Selected model is at capacity. Please try a different model.', { kind: 'overloaded' }],
    [http('httpConnectionFailed', 401), 'unexpected status 401 Unauthorized: x', { kind: 'auth', status: 401 }],
    [http('httpConnectionFailed', 403), 'unexpected status 403 Forbidden: x', { kind: 'auth' }],
    [http('httpConnectionFailed', 404), 'unexpected status 404 Not Found: x', { kind: 'permanent' }],
    [http('httpConnectionFailed', 413), 'unexpected status 413 Payload Too Large: x', { kind: 'permanent' }],
    ['other', '{"error":{"type":"invalid_request_error","message":"bad"}}', { kind: 'permanent' }],
    [
      'contextWindowExceeded',
      "Codex ran out of room in the model's context window.",
      { kind: 'permanent', reason: 'context_length' },
    ],
    ['other', 'stream disconnected before completion: error sending request', { kind: 'transient' }],
    ['other', 'stream disconnected before completion: stream closed before response.completed', { kind: 'transient' }],
    [http('responseStreamDisconnected', null), 'stream disconnected before completion: boom', { kind: 'transient' }],
    ['rateLimitExceeded', 'rate limit exceeded: Please try again in 1.5s', { kind: 'rate_limit', retryAfterMs: 1500 }],
    ['other', 'Incomplete response returned, reason: max_output_tokens', { kind: 'permanent' }],
    ['other', 'stream disconnected before completion: idle timeout waiting for SSE', { kind: 'timeout' }],
    ['other', 'Missing environment variable: `FAKE_KEY`.', { kind: 'auth' }],
    ['unauthorized', 'x', { kind: 'auth' }],
    ['modelNotFound', 'x', { kind: 'permanent', reason: 'not_found' }],
    ['sessionBudgetExceeded', 'x', { kind: 'quota' }],
    ['constructor', 'x', { kind: 'unknown' }],
  ])('[R-5] with %j and "%s" is judged by both', (codexErrorInfo, message, facts) => {
    expect(failure({ message, codexErrorInfo })).toMatchObject({ ...facts, message, outcome: 'failed' });
  });

  it('[R-5] without a word from Codex is unknown', () => {
    expect(failure(undefined)).toMatchObject({ kind: 'unknown', message: 'Codex says that its turn failed' });
  });

  it('[R-12] after something ran has an unknown outcome, and so has one that was cut off', () => {
    expect(failure({ message: 'x', codexErrorInfo: 'unauthorized' }, 'possible').outcome).toBe('unknown');
    expect(turnInterrupted('possible').outcome).toBe('unknown');
    expect(turnInterrupted('none')).toMatchObject({ kind: 'cancelled', outcome: 'cancelled' });
  });
});
