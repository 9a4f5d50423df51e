import { describe, expect, it } from 'vitest';
import { HeardCalls } from '../../../src/policy/spinning/heardCalls.ts';
import { chosenLimits, limitsOf, ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { hearing } from '../../support/hearing.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function listen(limits = ownLimits) {
  const clock = new SimulatedClock();
  const { caller, told, ends } = hearing(clock);
  const calls = new HeardCalls(limits, caller);
  let last = 0;
  const fail = (times: number, by?: unknown, message = 'no such file'): void => {
    for (let nth = 0; nth < times; nth++) {
      calls.called(++last, { tool: 'edit', input: { path: 'a' } }, by);
      calls.answered(last, { ok: false, kind: 'tool', message });
    }
  };
  return { clock, calls, told, ends, fail };
}

describe('the calls of an agent that are heard', () => {
  it('[G-15] come to a notice, a word and the end by equal failures', () => {
    const { told, ends, fail } = listen();
    fail(19);
    expect(ends).toEqual([]);
    fail(1);
    expect(told.map(({ step, count }) => [step, count])).toEqual([
      ['notice', 4],
      ['tell', 6],
      ['end', 20],
    ]);
    expect(ends).toEqual([
      { kind: 'spinning', outcome: 'unknown', message: expect.stringContaining('20 times') as unknown },
    ]);
    expect(ends[0]?.message).toContain('"no such file"');
  });

  it('[G-15] of sub-agents count apart', () => {
    const { told, ends, fail } = listen();
    for (let nth = 0; nth < 15; nth++) for (const by of [null, 'a', 'b']) fail(1, by);
    expect(ends).toEqual([]);
    expect(told.filter(({ step }) => step === 'notice')).toHaveLength(3);
  });

  it('[G-15] are of no account before they are answered, and an answer to none is passed over', () => {
    const { calls, told } = listen();
    for (let nth = 0; nth < 3000; nth++) calls.called(nth, { tool: 'edit', input: {} });
    for (let nth = 0; nth < 100; nth++) calls.answered(-1, { ok: false, kind: 'tool', message: 'x' });
    expect(told).toEqual([]);
  });

  it('[G-15] are forgotten of the agent that was heard longest ago, and of calls the oldest without an answer', () => {
    const { calls, told, fail } = listen();
    fail(3, 'first');
    fail(2, 'second');
    for (let nth = 0; nth < 30; nth++) fail(1, nth);
    fail(1, 'first');
    expect(told).toHaveLength(1);
    fail(1, 'another');
    fail(2, 'second');
    expect(told).toHaveLength(1);
    for (let nth = 0; nth < 1004; nth++) calls.called(`open-${nth}`, { tool: 'write', input: {} });
    for (let nth = 0; nth < 4; nth++) calls.answered(`open-${nth}`, { ok: false, kind: 'tool', message: 'no' });
    expect(told).toHaveLength(1);
  });

  it('[G-15] are not ended where each took long', async () => {
    const { clock, calls, ends, told } = listen();
    for (let nth = 0; nth < 40; nth++) {
      calls.called(nth, { tool: 'test', input: {} });
      await clock.advance(11_000);
      calls.called(nth, { tool: 'test', input: {} });
      calls.answered(nth, { ok: false, kind: 'tool', message: '3 failed' });
    }
    expect(ends).toEqual([]);
    expect(told.map(({ step }) => step)).toEqual(['notice', 'tell']);
  });

  it('[G-15] end nothing by what was before the message that is worked on', () => {
    const { calls, ends, fail } = listen();
    fail(19);
    calls.mark();
    fail(19);
    expect(ends).toEqual([]);
    fail(1);
    expect(ends).toHaveLength(1);
  });

  it('[G-15] end as far as was chosen', () => {
    const held = listen(chosenLimits('hold'));
    const told = listen(chosenLimits('tell'));
    for (const { fail } of [held, told]) fail(60);
    expect(held.ends.length).toBeGreaterThan(0);
    expect(told.ends).toEqual([]);
    expect(limitsOf('off', ownLimits)).toBeUndefined();
    expect(limitsOf(undefined, ownLimits)).toBe(ownLimits);
  });
});
