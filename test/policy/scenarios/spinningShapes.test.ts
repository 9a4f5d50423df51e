import { describe, expect, it } from 'vitest';
import { chosenLimits, ownLimits, type SpinningLimits } from '../../../src/policy/spinning/spinningRule.ts';
import {
  repeatRule,
  seenCall,
  SpinningWatch,
  type SpinningVerdict,
} from '../../../src/policy/spinning/spinningWatch.ts';
import { healthyShapes, isCall, type Shape, spinningShapes } from './shapes/index.ts';
import { healthySecond, spinningSecond } from './shapes/second/index.ts';
import { healthyThird, spinningThird } from './shapes/third/index.ts';

/** Sets by three authors, who had not seen each other's. */
const sets = [
  { set: 'first', healthy: healthyShapes, spinning: spinningShapes },
  { set: 'second', healthy: healthySecond, spinning: spinningSecond },
  { set: 'third', healthy: healthyThird, spinning: spinningThird },
];

/** Verdicts on the steps of a shape: each agent counts apart, and a restart goes on from what was kept. */
function verdicts({ steps, tools = {} }: Shape, limits: SpinningLimits): readonly (SpinningVerdict | undefined)[] {
  const watches = new Map<string, SpinningWatch>();
  return steps.map((step, index) => {
    if (!isCall(step)) {
      for (const [agent, watch] of watches) {
        const next = new SpinningWatch(limits);
        next.restore(watch.toText());
        watches.set(agent, next);
      }
      return undefined;
    }
    const { agent = '', tool, input, text, value = text, failure, tookMs } = step;
    const watch = watches.get(agent) ?? new SpinningWatch(limits);
    watches.set(agent, watch);
    const call = seenCall({ tool, input, effect: tools[tool]?.effect, rule: repeatRule(tools[tool]) });
    const answer =
      failure === undefined ? { ok: true as const, value, tookMs } : { ok: false as const, ...failure, tookMs };
    return watch.before(call) ?? watch.after(call, answer, index);
  });
}

describe.each(sets)('the $set set of labelled sessions', ({ healthy, spinning }) => {
  it.each(healthy)('[G-15] is neither held nor ended with all steps on: $name', (shape) => {
    const found = verdicts(shape, chosenLimits('end')).filter((each) => each?.step === 'hold' || each?.step === 'end');
    expect(found).toEqual([]);
  });

  it.each(healthy)('[G-15] is not ended with the defaults: $name', (shape) => {
    expect(verdicts(shape, ownLimits).filter((each) => each?.step === 'end')).toEqual([]);
  });

  it.each(spinning)('[G-15] is noticed by the tenth repetition with the defaults: $name', (shape) => {
    const noticed = verdicts(shape, ownLimits).findIndex((each) => each !== undefined);
    expect(noticed).toBeGreaterThanOrEqual(0);
    expect(noticed).toBeLessThanOrEqual(shape.noticedBy);
  });
});
