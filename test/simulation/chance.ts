import type { Random } from '../../src/policy/clock.ts';

/** Questions to a source of chance; every decision of a simulation is one of them. */
export interface Chance {
  /** True with this probability, 0 to 1. */
  happens(probability: number): boolean;
  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** A duration in whole ms from `minMs` to `maxMs`; short ones are as likely as long ones, by their magnitude. */
  span(minMs: number, maxMs: number): number;
  pick<T>(choices: readonly T[]): T;
  /** One of the choices, each as likely as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
}

export function createChance(random: Random): Chance {
  const integer = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  const pick = <T>(choices: readonly T[]): T => choices[integer(0, choices.length - 1)] as T;
  return {
    happens: (probability) => random() < probability,
    integer,
    span: (minMs, maxMs) => Math.round(minMs * (maxMs / minMs) ** random()),
    pick,
    weighted(choices) {
      let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, choice] of choices) {
        left -= weight;
        if (left < 0) return choice;
      }
      return pick(choices)[1];
    },
  };
}
