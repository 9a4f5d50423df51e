import { describe, expect, it } from 'vitest';
import { rateLimitHints } from '../../../src/policy/failures/rateLimitHints.ts';

const now = Date.parse('2026-11-22T09:00:00Z');
const read = (headers: Record<string, string>) => rateLimitHints(headers, now);

describe('what headers say of rate limits', () => {
  it('[R-15] Anthropic: four kinds, reset as a date', () => {
    expect(
      read({
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '49',
        'anthropic-ratelimit-requests-reset': '2026-11-22T09:00:02Z',
        'Anthropic-Ratelimit-Input-Tokens-Limit': '40000',
        'anthropic-ratelimit-input-tokens-remaining': '12000',
        'anthropic-ratelimit-output-tokens-remaining': '8000',
        'anthropic-ratelimit-tokens-limit': '48000',
        'anthropic-ratelimit-unified-reset': '1795255550',
        'anthropic-priority-input-tokens-remaining': '7',
      }),
    ).toEqual({
      requests: { limit: 50, remaining: 49, resetMs: 2000 },
      inputTokens: { limit: 40_000, remaining: 12_000 },
      outputTokens: { remaining: 8000 },
      tokens: { limit: 48_000 },
    });
  });

  it('[R-15] reads dates against the date of the answer itself', () => {
    const headers = {
      date: 'Sun, 22 Nov 2026 08:00:00 GMT',
      'anthropic-ratelimit-requests-reset': '2026-11-22T08:00:30Z',
    };
    expect(read(headers)).toEqual({ requests: { resetMs: 30_000 } });
  });

  it.each([
    ['1s', 1000],
    ['12ms', 12],
    ['6m0s', 360_000],
    ['1h2m3.5s', 3_723_500],
    ['59', 59_000],
    ['0.25', 250],
    ['soon', undefined],
    ['-5s', undefined],
    ['6m 0s', undefined],
  ])('[R-15] OpenAI and Azure: a reset of %s', (text, resetMs) => {
    const { requests, tokens } = read({
      'x-ratelimit-limit-requests': '10000',
      'x-ratelimit-remaining-requests': '9999',
      'x-ratelimit-reset-requests': text,
      'x-ratelimit-limit-tokens': '200000',
    });
    expect(requests).toEqual({ limit: 10_000, remaining: 9999, ...(resetMs !== undefined && { resetMs }) });
    expect(tokens).toEqual({ limit: 200_000 });
  });

  it.each([
    [{ 'x-ratelimit-limit-requests': '-1', 'x-ratelimit-remaining-requests': '-1' }],
    [{ 'x-ratelimit-limit-requests': '0', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '0' }],
    [{ 'x-ratelimit-remaining-requests': '0' }],
    [{ 'x-ratelimit-limit-requests': 'many', 'x-ratelimit-remaining-requests': '' }],
    [{ 'x-ratelimit-limit-requests': `${'9'.repeat(2000)}` }],
    [{ 'content-type': 'text/plain' }],
  ])('[R-15] takes what says nothing for unknown: %o', (headers) => {
    expect(read(headers)).toEqual({});
  });

  it('[R-15] GitHub and others without a kind: a fixed window, its end in seconds of the epoch or from now', () => {
    const plain = (reset: string) =>
      read({ 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset })['requests'];
    const expected = { limit: 5000, remaining: 0, resetMs: 60_000, atOnce: true };
    expect(plain(String(now / 1000 + 60))).toEqual(expected);
    expect(plain(String(now + 60_000))).toEqual(expected);
    expect(plain('60')).toEqual(expected);
    expect(read({ 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '5', 'ratelimit-reset': '9' })).toEqual({
      requests: { limit: 100, remaining: 5, resetMs: 9000, perMs: 60_000, atOnce: true },
    });
  });

  it('[R-15] the standard field: of several limits the tightest, of requests alone', () => {
    expect(
      read({
        'RateLimit-Policy': '"burst";q=100;w=60, "a, day";q=1000;w=86400, "size";q=5;w=60;qu="content-bytes"',
        RateLimit: '"a, day";r=20;t=3600, "burst";r=50;t=30;pk=:c3R1ZmY=:, "size";r=1;t=10',
      }),
    ).toEqual({ requests: { limit: 1000, remaining: 20, resetMs: 3_600_000, perMs: 86_400_000, atOnce: true } });
    expect(read({ RateLimit: '"default";r=50;t=30' })).toEqual({
      requests: { remaining: 50, resetMs: 30_000, atOnce: true },
    });
    expect(read({ RateLimit: 'limit=100, remaining=50, reset=5', 'RateLimit-Policy': '100;w=10' })).toEqual({
      requests: { limit: 100, remaining: 50, resetMs: 5000, perMs: 10_000, atOnce: true },
    });
  });

  it('[R-15] never throws, and reads the headers of fetch', () => {
    expect(rateLimitHints(new Headers({ 'x-ratelimit-limit-requests': '5' }), now)).toEqual({ requests: { limit: 5 } });
    const broken = {
      get(): string {
        throw new Error('broken');
      },
    };
    expect(rateLimitHints(broken, now)).toEqual({});
  });
});
