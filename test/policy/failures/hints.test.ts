import { describe, expect, it } from 'vitest';
import { headerHint, resetHint } from '../../../src/policy/failures/hints.ts';
import { textHint } from '../../../src/policy/failures/textHints.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const week = 7 * 86_400_000;

describe('a hint in headers', () => {
  it.each([
    ['120', 120_000],
    ['1.5', 1500],
    ['0', 0],
    ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['2026-11-21T12:00:30Z', 30_000],
    ['999999999', week],
    ['-5', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['', undefined],
  ])('[R-3] retry-after: %s means %s ms', (value, expected) => {
    expect(headerHint({ 'retry-after': value }, now).retryAfterMs).toBe(expected);
  });

  it('[R-3] in milliseconds comes first', () => {
    expect(headerHint({ 'retry-after-ms': '250', 'retry-after': '9' }, now).retryAfterMs).toBe(250);
  });

  it("[R-3] that is a date is read against the response's own date", () => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 10:00:20 GMT' };
    expect(headerHint(headers, now).retryAfterMs).toBe(20_000);
  });

  it('[R-3] is found in Headers and in plain objects, whatever the case', () => {
    expect(headerHint(new Headers({ 'Retry-After': '3' }), now).retryAfterMs).toBe(3000);
    expect(headerHint({ 'Retry-After': ['4'] }, now).retryAfterMs).toBe(4000);
  });

  it.each([
    ['true', true],
    ['false', false],
    ['perhaps', undefined],
  ])('[R-3] x-should-retry: %s means %s', (value, expected) => {
    expect(headerHint({ 'x-should-retry': value }, now).shouldRetry).toBe(expected);
  });
});

describe('a limit that is used up', () => {
  it.each([
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, 30_000],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }, 30_000],
    [{ 'ratelimit-reset': String(now / 1000 + 5) }, 5000],
    [{ 'x-ratelimit-reset': String(now + 7000) }, 7000],
    [{ 'x-ratelimit-reset': '2026-11-21T12:00:30Z' }, 30_000],
    [{ 'x-ratelimit-reset': '30', 'x-ratelimit-reset-after': '1.5' }, 1500],
    [{ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' }, undefined],
    [{ 'ratelimit-remaining': '1', 'ratelimit-reset': '30' }, undefined],
    [{ 'x-ratelimit-reset': String(now / 1000 - 5) }, undefined],
    [{ 'x-ratelimit-reset': 'soon' }, undefined],
    [{}, undefined],
  ])('[R-3] is full again by %o in %s ms', (headers, expected) => {
    expect(resetHint(headers, now)).toBe(expected);
  });
});

describe('a hint in a text', () => {
  it.each([
    ['Please try again in 1.2s', 1200],
    ['try again in 20ms.', 20],
    ['Please try again in 6m0s', 360_000],
    ['retry after 30 seconds', 30_000],
    ['try again in 2 minutes', 120_000],
    ['Try again in 1 day 2 hours 3 minutes.', 93_780_000],
    ['limit reached, reset at 2026-11-21 12:05:00Z', 300_000],
    ['nothing of the kind', undefined],
  ])('[R-3] "%s" means %s ms', (text, expected) => {
    expect(textHint(text, now).retryAfterMs).toBe(expected);
  });

  it('[R-3] with a time of day means the next such time', () => {
    const local = new Date(2026, 10, 21, 15, 0, 0).getTime();
    expect(textHint("You've hit your usage limit, try again at 3:45 PM", local).retryAfterMs).toBe(45 * 60_000);
    expect(textHint('your limit resets 2pm', local).retryAfterMs).toBe(23 * 3_600_000);
  });

  it.each([
    ['weekly limit · resets Nov 24, 1pm', 3 * 24 - 2],
    ['weekly limit · resets Nov 24 at 1:00 PM local time', 3 * 24 - 2],
    ['weekly limit · resets Mon 9:00 AM', 2 * 24 - 6],
    ['weekly limit · resets Saturday 4pm', 1],
    ['weekly limit · resets Sat 10am', 7 * 24 - 5],
    ["You've hit your usage limit… try again at Nov 22nd, 2026 3:00 PM", 24],
  ])('[R-3] "%s" is %s hours away on a Saturday at 3 pm', (text, hours) => {
    const local = new Date(2026, 10, 21, 15, 0, 0).getTime();
    expect(textHint(text, local).retryAfterMs).toBe(hours * 3_600_000);
  });

  it('[R-3] with a day that was earlier in the year means the next year', () => {
    const eve = new Date(2026, 11, 31, 15, 0, 0).getTime();
    expect(textHint('resets Jan 1, 3pm', eve).retryAfterMs).toBe(24 * 3_600_000);
  });
});
