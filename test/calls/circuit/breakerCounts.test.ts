import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { BreakerCounts, OutcomeWindow } from '../../../src/calls/circuit/breakerCounts.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';

const start = (breaker = {}) => new BreakerCounts(resolvePolicy('kb', { breaker }).breaker);

describe('what a breaker counts', () => {
  it('[M-4] holds an answer from the moment it came until it is too old', () => {
    const counts = start({ windowMs: 1000 });
    counts.answered(500);
    expect(counts.failed(1499)).toEqual({ consecutive: 1, failures: 1, total: 2 });
    expect(counts.failed(1500)).toEqual({ consecutive: 2, failures: 2, total: 2 });
  });

  it('[M-4] ends the failures in a row with an answer, whenever the failures came', () => {
    const counts = start();
    for (const failures of [1, 2]) {
      for (let count = 1; count <= failures; count++) expect(counts.failed(0).consecutive).toBe(count);
      counts.answered(1);
      counts.answered(2);
    }
    expect(counts.failed(3).consecutive).toBe(1);
  });

  it('[M-4] ends the failures in a row of an earlier incarnation with its first answer', () => {
    let failures = 3;
    const streak = { begin: () => undefined, failed: () => ++failures, end: () => void (failures = 0) };
    const counts = new BreakerCounts(resolvePolicy('kb', {}).breaker, streak);
    counts.begin();
    counts.answered(0);
    failures = 2;
    counts.begin();
    counts.answered(1);
    expect(counts.failed(2).consecutive).toBe(1);
  });

  it('[M-4] forgets what was answered when a circuit closes, and with a new incarnation', () => {
    const counts = start();
    counts.answered(0);
    counts.clear();
    expect(counts.failed(1)).toEqual({ consecutive: 1, failures: 1, total: 1 });
    counts.answered(1);
    counts.begin();
    expect(counts.failed(2)).toEqual({ consecutive: 1, failures: 1, total: 1 });
  });

  it('[M-4] knows when it was last answered', () => {
    const counts = start();
    expect(counts.hasAnsweredSince(0)).toBe(false);
    counts.answered(5);
    expect([counts.hasAnsweredSince(4), counts.hasAnsweredSince(5)]).toEqual([true, false]);
  });
});

describe('the outcome window', () => {
  it('[M-4] counts attempts and the failures among them', () => {
    const window = new OutcomeWindow(5, 1000);
    for (const failed of [true, false, true]) window.record(failed, 0);
    expect([window.failures(0), window.total(0)]).toEqual([2, 3]);
  });

  it('[M-4] lets the oldest go when it is full', () => {
    const window = new OutcomeWindow(2, 1000);
    for (const failed of [true, false, false]) window.record(failed, 0);
    expect([window.failures(0), window.total(0)]).toEqual([0, 2]);
  });

  it('[M-4] forgets an attempt at the age of the window, not before', () => {
    const window = new OutcomeWindow(5, 1000);
    window.record(true, 0);
    expect(window.failures(999)).toBe(1);
    expect(window.failures(1000)).toBe(0);
    expect(window.total(1000)).toBe(0);
  });

  it('[M-4] has forgotten old failures after an idle hour', () => {
    const window = new OutcomeWindow(50, 60_000);
    for (let index = 0; index < 50; index++) window.record(true, index);
    window.record(true, 3_600_000);
    expect([window.failures(3_600_000), window.total(3_600_000)]).toEqual([1, 1]);
  });

  it('[M-4] starts anew when cleared', () => {
    const window = new OutcomeWindow(2, 1000);
    window.record(true, 0);
    window.clear();
    expect([window.failures(0), window.total(0)]).toEqual([0, 0]);
  });

  it('[M-4] counts as a plain list of attempts does', () => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 40 }), failed: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (size, steps) => {
        const window = new OutcomeWindow(size, 100);
        let list: { at: number; failed: boolean }[] = [];
        let now = 0;
        for (const { afterMs, failed } of steps) {
          now += afterMs;
          window.record(failed, now);
          list = [...list, { at: now, failed }].slice(-size).filter(({ at }) => now - at < 100);
          expect(window.total(now)).toBe(list.length);
          expect(window.failures(now)).toBe(list.filter((each) => each.failed).length);
        }
      }),
    );
  });
});
