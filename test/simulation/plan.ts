import type { SimulatedClock } from '../../testing/simulatedClock.ts';
import { seededRandom } from '../../testing/random.ts';
import { type Chance, createChance } from './chance.ts';
import { pass, type PlayedWorld } from './play.ts';

/** What may happen next, and how often. */
export type Steps<W> = readonly (readonly [weight: number, step: (world: W) => void])[];

/** Chance of a seed that begins anew with each planned step: a step does the same whether or not those before it are played. */
export class PlannedChance {
  readonly chance: Chance;
  readonly #seed: number;
  #random: () => number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.chance = createChance(() => this.#random());
  }

  /** Chance of the step of that number, and of all that comes of it until the next. */
  begin(step: number): void {
    this.#random = seededRandom((this.#seed * 7919 + step * 104_729) >>> 0);
  }
}

/** A world whose steps are planned. */
export interface PlannedWorld extends PlayedWorld {
  readonly chance: Chance;
  readonly planned: PlannedChance;
  /** Whether nothing more is to be planned. */
  readonly over?: boolean;
}

export interface PlanOptions<W> {
  readonly count: number;
  readonly steps: Steps<W>;
  /** Time that passes after a step, in ms. */
  readonly pauseMs: (world: W) => number;
  /** Numbers of the steps that are played, of those that are planned; time passes for all. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  /** Told of each number before its step. */
  readonly reached?: (number: number) => void;
}

/** Plays the steps that a seed plans, until a promise is broken. */
export async function playPlan<W extends PlannedWorld>(world: W, options: PlanOptions<W>): Promise<void> {
  const { count, steps, pauseMs, only, reached } = options;
  const played = only === undefined ? undefined : new Set(only);
  for (let number = 0; number < count && world.judge.violation === undefined && world.over !== true; number++) {
    world.planned.begin(number);
    reached?.(number);
    const step = world.chance.weighted(steps);
    const ms = pauseMs(world);
    world.judge.reached = number + 1;
    if (played?.has(number) !== false) step(world);
    await pass(world, ms);
  }
  world.planned.begin(-1);
}

/** Time until the next step of most worlds, in ms: often none, now and then until the next timer, rarely an hour. */
export function usualPauseMs({ chance, clock }: { readonly chance: Chance; readonly clock: SimulatedClock }): number {
  return chance.weighted<() => number>([
    [3, () => 0],
    [3, () => chance.span(1, 20)],
    [3, () => Math.max(0, (clock.nextAt ?? clock.now()) - clock.now())],
    [4, () => chance.span(20, 2000)],
    [2, () => chance.span(2000, 60_000)],
    [0.2, () => chance.span(60_000, 3_600_000)],
  ])();
}
