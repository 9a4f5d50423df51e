import type { Chance } from './chance.ts';
import { answers, type FaultMaker, oddities, outages, throttles } from './faults.ts';
import type { Ending, Plan } from './work.ts';

/** How an integration is doing; decides what its attempts will do. */
export type Mood = 'well' | 'flaky' | 'down' | 'hanging' | 'throttled' | 'mad';

export const moods: readonly Mood[] = ['well', 'flaky', 'down', 'hanging', 'throttled', 'mad'];

type Choice = readonly [weight: number, choice: 'value' | readonly FaultMaker[]];

const endings: Readonly<Record<Mood, readonly Choice[]>> = {
  well: [[1, 'value']],
  flaky: [
    [2, 'value'],
    [2, outages],
    [0.5, answers],
  ],
  down: [
    [0.2, 'value'],
    [3, outages],
  ],
  hanging: [[1, 'value']],
  throttled: [
    [1, 'value'],
    [2, throttles],
    [0.5, outages],
  ],
  mad: [
    [1, 'value'],
    [2, oddities],
    [1, answers],
    [1, outages],
  ],
};

/** Values are told apart by identity. */
export function randomEnding(chance: Chance, mood: Mood, maxPauseMs: number): Ending {
  const choice = chance.weighted(endings[mood]);
  if (choice === 'value') return { ok: true, value: {} };
  return { ok: false, fault: chance.pick(choice)(chance, maxPauseMs) };
}

/** Work that goes well. */
export function calmPlan(): Plan {
  const ending: Ending = { ok: true, value: {} };
  return { when: 'soon', ending, shape: 'promise', again: undefined, onAbort: 'end', touches: undefined };
}

export function randomPlan(chance: Chance, mood: Mood, maxPauseMs: number): Plan {
  const hanging = mood === 'hanging' || chance.happens(0.1);
  return {
    when: chance.weighted<Plan['when']>([
      [hanging ? 0.1 : 2, 'at once'],
      [hanging ? 0.1 : 3, 'soon'],
      [hanging ? 1 : 4, chance.span(1, hanging ? 600_000 : 2000)],
      [hanging ? 4 : 0.3, 'never'],
    ]),
    ending: randomEnding(chance, mood, maxPauseMs),
    shape: chance.weighted<Plan['shape']>([
      [10, 'promise'],
      [2, 'thenable'],
      [1, 'twice'],
      [0.5, 'throwing'],
      [0.5, 'odd'],
    ]),
    again: chance.happens(0.2) ? randomEnding(chance, 'mad', maxPauseMs) : undefined,
    onAbort: chance.weighted<Plan['onAbort']>([
      [2, 'end'],
      [2, 'ignore'],
      [1, chance.span(1, 20_000)],
    ]),
    touches: chance.happens(0.2) ? { everyMs: chance.span(1, 5000), times: chance.integer(1, 20) } : undefined,
  };
}
