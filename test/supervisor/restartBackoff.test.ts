import { describe, expect, it } from 'vitest';
import { readOptions } from '../../src/policy/options/readOptions.ts';
import {
  type RestartBackoffOptions,
  restartBackoffKeys,
  defaultRestartBackoff,
  restartDelay,
} from '../../src/supervisor/restartBackoff.ts';

const middle = () => 0.5;
const delays = (backoff = defaultRestartBackoff, random = middle) =>
  [0, 1, 2, 3, 8, 9, 2000].map((earlier) => restartDelay(backoff, earlier, random));

const checkRestartBackoff = (name: string, given: object) => readOptions(name, given, restartBackoffKeys);

describe('the backoff between restarts', () => {
  it('[V-4] doubles from 100 ms to 30 s', () => {
    expect(delays()).toEqual([100, 200, 400, 800, 25_600, 30_000, 30_000]);
  });

  it('[V-4] moves by a fifth either way, never above the cap', () => {
    expect(delays(defaultRestartBackoff, () => 0)).toEqual([80, 160, 320, 640, 20_480, 24_000, 24_000]);
    expect(delays(defaultRestartBackoff, () => 1)).toEqual([120, 240, 480, 960, 30_000, 30_000, 30_000]);
  });

  it('[V-4] can make the first restart immediate, then begins at its base', () => {
    const backoff = checkRestartBackoff('a.backoff', { firstImmediate: true, baseMs: 250, maxMs: 5000 });
    expect(delays(backoff)).toEqual([0, 250, 500, 1000, 5000, 5000, 5000]);
  });

  it('[V-4] stays 0 with a base of 0', () => {
    expect(delays(checkRestartBackoff('a.backoff', { baseMs: 0 }))).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it.each<[RestartBackoffOptions, string]>([
    [{ baseMs: -1 }, 'a.backoff.baseMs'],
    [{ factor: 0.9 }, 'a.backoff.factor'],
    [{ maxMs: Number.NaN }, 'a.backoff.maxMs'],
    [{ jitter: 1.1 }, 'a.backoff.jitter'],
    [{ resetAfterMs: -1 }, 'a.backoff.resetAfterMs'],
    [{ wait: 1 } as RestartBackoffOptions, 'a.backoff.wait'],
  ])('[V-4] refuses %o and names the field', (given, name) => {
    expect(() => checkRestartBackoff('a.backoff', given)).toThrow(name);
    expect(() => checkRestartBackoff('a.backoff', given)).toThrow(RangeError);
  });
});
