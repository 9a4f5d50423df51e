import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatLatency, formatSeconds, limitText, wholeMs } from '../../../src/policy/text/duration.ts';
import { parseDuration } from '../../../operator/parseDuration.ts';

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1.5s', 1500],
    ['0s', 0],
    ['7d', 604_800_000],
  ])('[L-3] reads %s', (text, ms) => {
    expect(parseDuration('--timeout', text)).toBe(ms);
  });

  it.each(['', '5', 's', '-5s', '5 s', '1e3s', '.5s', '5w', '5sec', 'Infinitys', `${'9'.repeat(400)}h`])(
    '[L-3] refuses %j and names the option',
    (text) => {
      expect(() => parseDuration('--timeout', text)).toThrow(RangeError);
      expect(() => parseDuration('--timeout', text)).toThrow('Expected `--timeout` to be a duration such as 500ms');
    },
  );

  it('[L-3] names the value it refuses', () => {
    expect(() => parseDuration('--timeout', 'soon')).toThrow(/got "soon"$/);
    expect(() => parseDuration('--timeout', '1h30m')).toThrow(/got "1h30m"; write 90m$/);
    expect(() => parseDuration('--timeout', '1m30s500ms')).toThrow('write 90500ms');
    expect(() => parseDuration('--timeout', '30m1h')).toThrow(/got "30m1h"$/);
  });

  it.each([
    [250, '250ms'],
    [999.6, '1s'],
    [1500, '1.5s'],
    [59_960, '1m'],
    [330_000, '5m30s'],
    [3_599_999, '1h'],
    [7_500_000, '2h5m'],
    [169_200_000, '47h'],
    [604_800_000, '7d'],
    [608_400_000, '7d1h'],
    [-1, '0ms'],
    [Number.POSITIVE_INFINITY, 'for ever'],
  ])('[L-3] writes %d as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('[L-3] is read back as it was written, to a twentieth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 59_000 }), (ms) => {
        expect(Math.abs(parseDuration('d', formatDuration(ms)) - ms)).toBeLessThanOrEqual(Math.max(0, ms / 20));
      }),
    );
  });
});

describe('times in ms for others', () => {
  it.each([
    [1000, '1s'],
    [300_000, '300s'],
    [400, '400ms'],
    [1500, '1500ms'],
    [943.577, '944ms'],
    [0.4, '0ms'],
  ])('[S-2] a limit of %d ms is %s', (ms, text) => {
    expect(limitText(ms)).toBe(text);
  });

  it('[S-2] are whole, by the name of their field', () => {
    const given = { sinceMs: 943.577, elapsed_ms: 0.6, ms: 1.2, ratio: 0.5, items: 1.5, limitMs: '1.5', none_ms: null };
    expect(JSON.parse(JSON.stringify({ given }, wholeMs))).toEqual({
      given: { ...given, sinceMs: 944, elapsed_ms: 1, ms: 1 },
    });
  });
});

describe('a time in whole seconds', () => {
  it.each([
    [-5, '0s'],
    [0, '0s'],
    [1, '1s'],
    [1000, '1s'],
    [1001, '2s'],
    [275_001, '4m36s'],
    [Number.POSITIVE_INFINITY, 'for ever'],
  ])('[O-13] counts a second that has begun: %s ms', (ms, text) => {
    expect(formatSeconds(ms)).toBe(text);
  });
});

describe('how long calls took', () => {
  it.each([
    [0.4, '<1ms'],
    [96.4, '96ms'],
    [999.4, '999ms'],
    [2140, '2.1s'],
    [12_400, '12s'],
    [276_000, '4m36s'],
  ])('[O-10] is told in two or three digits: %s ms', (ms, text) => {
    expect(formatLatency(ms)).toBe(text);
  });
});
