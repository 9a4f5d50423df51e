import { describe, expect, it } from 'vitest';
import { notBack, unavailable } from '../../src/calls/refusal.ts';

const crash = { kind: 'crash', message: 'It ended with exit code 1', outcome: 'unknown' } as const;
const until = 'mend the cause, then restart it: unwedge restart kb';

describe('a call of what is in quarantine', () => {
  it('[R-6] is told to mend the cause and how to restart it, and not to try again', () => {
    expect(unavailable('kb', { isQuarantined: true }, undefined)).toMatchObject({
      ...{ kind: 'unavailable', reason: 'quarantined', outcome: 'not_started', shouldRetry: false },
      message: `kb is in quarantine, as it ended too often; ${until}`,
    });
    expect(unavailable('kb', { isQuarantined: true }, crash).message).toBe(
      `kb is in quarantine, as it ended too often; ${until}: It ended with exit code 1`,
    );
  });

  it('[R-6] is told when it is started again where that is planned, and may try again then', () => {
    const facts = unavailable('kb', { isQuarantined: true, restartInMs: 59_999.5 }, crash);
    expect(facts).toMatchObject({ reason: 'quarantined', retryAfterMs: 59_999.5 });
    expect(facts.shouldRetry).toBeUndefined();
    expect(facts.message).toBe(
      'kb is in quarantine, as it ended too often; it is started again in 1m, or at once by unwedge restart kb: It ended with exit code 1',
    );
  });

  it('[R-6] that waited for its restart keeps its own failure and is told the same', () => {
    expect(notBack('kb', { isQuarantined: true }, crash, 5000)).toMatchObject({
      ...{ kind: 'crash', reason: 'quarantined', shouldRetry: false },
      message: `It ended with exit code 1; kb is in quarantine, as it ended too often; ${until}`,
    });
    expect(notBack('kb', {}, crash, 5000).message).toBe('It ended with exit code 1; it was not back within 5s');
  });
});
