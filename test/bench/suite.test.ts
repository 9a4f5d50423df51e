import { describe, expect, it } from 'vitest';
import { type Suite, type Target, defineSuite } from '../../bench/harness/suite.ts';
import { supervisorSuite } from '../../bench/supervisor/suite.ts';
import { loadSuite, secondsOf, suiteNames } from '../../bench/suites.ts';
import { costs, twoSubjects } from './fakes.ts';

const of = { subject: 'ours', case: 'work', metric: 'cost' };
const define = (targets: Target[], changes: Partial<Suite> = {}) =>
  defineSuite({ ...twoSubjects(costs(), costs(), targets), ...changes });

describe('a benchmark suite', () => {
  it('names as its baseline one of its subjects', () => {
    expect(() => define([], { baseline: 'none' })).toThrow(new RangeError('Suite `fake` has no subject `none`'));
  });

  it('sets targets only for subjects and cases it has', () => {
    const noCase = { ...of, case: 'play' };
    const message = 'Subject `ours` of suite `fake` has no case `play`';
    expect(() => define([{ says: '', of: noCase, atMost: 1 }])).toThrow(new RangeError(message));
    expect(() => define([{ says: '', of, over: noCase, atMost: 1 }])).toThrow(new RangeError(message));
    expect(() => define([{ says: '', of: { ...of, subject: 'none' }, atMost: 1 }])).toThrow(RangeError);
  });

  it('may set targets for a subject that is not installed, and for no other', () => {
    const away = { ...of, subject: 'away' };
    const targets = [{ says: '', of, over: away, atMost: 1 }];
    expect(define([], { targets, missing: ['away'] }).missing).toEqual(['away']);
    expect(() => define([], { targets, missing: ['afar'] })).toThrow(RangeError);
  });

  it('is found by its name', async () => {
    expect(suiteNames).toContain('supervisor');
    expect(await loadSuite('supervisor')).toBe(supervisorSuite);
    for (const name of suiteNames) expect((await loadSuite(name)).name).toBe(name);
  });

  it('has a time of its own, at most two minutes; all of them 20 with the build before them', () => {
    const seconds = suiteNames.map(secondsOf);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(120);
    expect(seconds.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(19 * 60);
  });
});
