import { describe, expect, it } from 'vitest';
import { addRestart, createRestartWindow, forget, hasRestarted, roomInMs } from '../../src/supervisor/restartWindow.ts';

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

  it('[V-3] says whether the newest restart is within the period, also once it is full', () => {
    expect(hasRestarted(createRestartWindow(3, 100), 0)).toBe(false);
    const window = filled(3, 100, 0, 1, 2);
    expect([102, 103].map((at) => hasRestarted(window, at))).toEqual([true, false]);
    addRestart(window, 101, 'a');
    expect([201, 202].map((at) => hasRestarted(window, at))).toEqual([true, false]);
  });

  it('[V-3] says when it has room again', () => {
    const window = filled(3, 100, 0, 10, 20);
    expect(roomInMs(window, 60)).toBe(41);
    expect(addRestart(window, 100, 'a')).toBe(false);
    expect(addRestart(window, 101, 'a')).toBe(true);
    expect(roomInMs(window, 101)).toBe(10);
  });

  it('[V-3] gives the others their room back when one is taken out', () => {
    const window = filled(3, 1000, 0, 1);
    addRestart(window, 2, 'b');
    forget(window, 'a');
    expect([3, 3, 3].map((at) => addRestart(window, at, 'b'))).toEqual([true, true, false]);
  });

  it('[V-3] keeps the order of the others when one is taken out of a full window', () => {
    const window = filled(3, 1000, 0, 1);
    for (const at of [2, 1001]) expect(addRestart(window, at, 'b')).toBe(true);
    forget(window, 'a');
    expect([1002, 1002, 1003, 1003].map((at) => addRestart(window, at, 'b'))).toEqual([true, false, true, false]);
  });
});
