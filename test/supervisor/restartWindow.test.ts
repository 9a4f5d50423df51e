import { describe, expect, it } from 'vitest';
import { addRestart, createRestartWindow, forget, heaviest } from '../../src/supervisor/restartWindow.ts';

const filled = (intensity: number, periodMs: number, ...times: number[]) => {
  const window = createRestartWindow(intensity, periodMs);
  for (const at of times) expect(addRestart(window, at, 'a')).toBe(true);
  return window;
};

describe('the restart window', () => {
  it('[V-3] allows exactly its intensity and refuses one more', () => {
    expect(addRestart(filled(3, 5000, 0, 1, 2), 3, 'a')).toBe(false);
  });

  it('[V-3] allows none with an intensity of 0 and any number with Infinity, keeping nothing', () => {
    expect(addRestart(createRestartWindow(0, 5000), 0, 'a')).toBe(false);
    const endless = createRestartWindow(Number.POSITIVE_INFINITY, 5000);
    for (let at = 0; at < 1000; at++) expect(addRestart(endless, at, 'a')).toBe(true);
    expect(endless.ring).toHaveLength(0);
  });

  it.each([
    ['period - 1', 4999, false],
    ['period', 5000, false],
    ['period + 1', 5001, true],
  ])('[V-3] judges a restart that is %s ms old to the millisecond', (_name, at, allowed) => {
    expect(addRestart(filled(1, 5000, 0), at, 'a')).toBe(allowed);
  });

  it('[V-3] slides: restarts spaced just outside never trip it', () => {
    const window = createRestartWindow(3, 3000);
    for (let n = 0; n < 1000; n++) expect(addRestart(window, n * 1001, 'a')).toBe(true);
  });

  it('[V-3] slides: a burst after a quiet time counts only itself', () => {
    const window = filled(3, 5000, 0, 1, 2);
    expect([6000, 6001, 6002, 6003].map((at) => addRestart(window, at, 'a'))).toEqual([true, true, true, false]);
  });

  it('[V-3] keeps no more than its intensity under 10,000 restarts', () => {
    const window = createRestartWindow(30, 10);
    for (let at = 0; at < 10_000; at++) addRestart(window, at, 'a');
    expect(window.ring.length).toBe(30);
  });

  it('[V-3] names who used it up, in a tie the one who asks', () => {
    const window = filled(3, 100, 0, 1);
    addRestart(window, 2, 'b');
    expect(heaviest(window, 3, 'c')).toBe('a');
    expect(heaviest(window, 3, 'b')).toBe('b');
    expect(heaviest(window, 102, 'c')).toBe('c');
  });

  it('[V-3] gives the others their room back when one is taken out', () => {
    const window = filled(3, 100, 0, 1, 2);
    addRestart(window, 103, 'b');
    forget(window, 'a');
    expect([104, 104, 104].map((at) => addRestart(window, at, 'b'))).toEqual([true, true, false]);
    expect(addRestart(window, 204, 'b')).toBe(true);
  });
});
