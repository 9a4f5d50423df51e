import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { type HeaderSource, headerHint } from '../../../src/policy/failures/hints.ts';
import { textHint } from '../../../src/policy/failures/textHints.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const local = new Date(2026, 10, 21, 15, 0, 30).getTime();
const week = 7 * 24 * 3_600_000;
const retryAfter = (value: string) => headerHint({ 'retry-after': value }, now).retryAfterMs;

describe('a date in a header', () => {
  it.each(['Saturday, 21-Nov-26 12:00:10 GMT', 'Sat Nov 21 12:00:10 2026', '2026-11-21T13:00:10+01:00'])(
    '[R-3] is read as %s',
    (date) => {
      expect(retryAfter(date)).toBe(10_000);
    },
  );

  it.each(['soon 5', 'May 5', '2026-11-21', '1, 2', '1e3', '0x10'])('[R-3] is not guessed from %j', (text) => {
    expect(retryAfter(text)).toBeUndefined();
  });
});

it('[R-3] that looks like a year is a number of seconds', () => {
  expect(retryAfter('2026')).toBe(2_026_000);
});

describe('headers of somebody else', () => {
  it('[R-3] may hold numbers', () => {
    expect(headerHint(JSON.parse('{"retry-after":5}') as HeaderSource, now).retryAfterMs).toBe(5000);
  });

  it('[R-3] give no hint when they cannot be read', () => {
    const get = () => {
      throw new Error('gone');
    };
    expect(headerHint({ get }, now)).toEqual({ retryAfterMs: undefined, shouldRetry: undefined });
  });
});

describe('a time in a text', () => {
  it.each([
    ['Please retry in 22.4s.', 22_400],
    ['try again in 1h 5m', 3_900_000],
    ['try again in 2 minutes and 5 seconds', 125_000],
    ['Retry after 10 mins', 600_000],
    ['"resets_in_seconds": 90', 90_000],
    [`{"resets_at":${now / 1000 + 60}}`, 60_000],
    [`Claude AI usage limit reached|${now / 1000 + 3600}`, 3_600_000],
    ['try again in 400 days', 7 * 86_400_000],
    ['try again in a moment', undefined],
    ['try again in 5 months', undefined],
  ])('[R-3] of %s is %s ms', (text, expected) => {
    expect(textHint(text, now).retryAfterMs).toBe(expected);
  });

  it('[R-3] that has just passed is asked again in a minute: neither at once nor tomorrow', () => {
    expect(textHint('resets 3pm', local).retryAfterMs).toBe(60_000);
    expect(textHint('resets 3pm', local + 9 * 60_000).retryAfterMs).toBe(60_000);
    expect(textHint('resets 3pm', local + 10 * 60_000).retryAfterMs).toBe(24 * 3_600_000 - 10.5 * 60_000);
  });

  it('[R-3] may name its day', () => {
    expect(textHint('try again at Nov 22nd, 2026 3:00 PM.', local).retryAfterMs).toBe(24 * 3_600_000 - 30_000);
  });

  it('[R-3] at noon and at midnight is told apart', () => {
    expect(textHint('resets 12am', local).retryAfterMs).toBe(9 * 3_600_000 - 30_000);
    expect(textHint('try again at 12:30 pm', local).retryAfterMs).toBe(21.5 * 3_600_000 - 30_000);
  });

  it('[R-3] of no clock is ignored', () => {
    expect(textHint('try again at 13:00 PM', local)).toEqual({});
    expect(textHint('try again at 3:75 PM', local)).toEqual({});
  });
});

describe('a time that names its zone', () => {
  it.each([
    ['resets 3pm (America/Bogota)', '2026-11-21T20:00:00Z'],
    ['limit resets at 18:00 UTC', '2026-11-21T18:00:00Z'],
    ['try again at 3:45 PM PST', '2026-11-21T23:45:00Z'],
    ['try again at 3:45 PM Pacific Time', '2026-11-21T23:45:00Z'],
    ['resets 9am (Asia/Kolkata)', '2026-11-22T03:30:00Z'],
    ['resets Nov 24, 1pm (Europe/Berlin)', '2026-11-24T12:00:00Z'],
    ['available again on 24 November 2026 at 13:00 UTC+2', '2026-11-24T11:00:00Z'],
    ['resets at midnight UTC', '2026-11-22T00:00:00Z'],
    ['You will regain access on 2026-11-23 at 00:00 UTC.', '2026-11-23T00:00:00Z'],
    ['resets tomorrow at 9:30 am (America/New_York)', '2026-11-22T14:30:00Z'],
    ['resets Mon 18:00 GMT', '2026-11-23T18:00:00Z'],
  ])('[R-3] %s is %s', (text, moment) => {
    expect(textHint(text, now).retryAfterMs).toBe(Date.parse(moment) - now);
  });

  it('[R-3] counts the hour that is left out in spring, and the other one in autumn', () => {
    const spring = Date.parse('2026-03-08T05:00:00Z');
    expect(textHint('resets 9am (America/New_York)', spring).retryAfterMs).toBe(8 * 3_600_000);
    expect(textHint('resets 2:30am (America/New_York)', spring).retryAfterMs).toBeGreaterThan(0);
    const autumn = Date.parse('2026-11-01T04:00:00Z');
    expect(textHint('resets 9am (America/New_York)', autumn).retryAfterMs).toBe(10 * 3_600_000);
  });

  it('[R-3] is that of nowhere where there is no such zone', () => {
    expect(textHint('resets 3pm (Nowhere/Atlantis)', local).retryAfterMs).toBe(60_000);
  });
});

describe('every hint', () => {
  it('[R-3] is absent, or from 0 to 7 days', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.stringMatching(/^(try again in|resets|retry after) \d{1,12}(\.\d)? ?(ms|s|m|h|pm)$/),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const { retryAfterMs = 0 } of [textHint(text, now), headerHint({ 'retry-after': text }, now)]) {
          expect(retryAfterMs).toBeGreaterThanOrEqual(0);
          expect(retryAfterMs).toBeLessThanOrEqual(week);
        }
      }),
    );
  });
});
