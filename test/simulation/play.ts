import type { SimulatedClock } from '../../testing/simulatedClock.ts';
import type { Judge, Violation } from './judge.ts';
import type { Trace } from './trace.ts';

/** What became of one seed. */
export interface Result {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Of everything that happened. */
  readonly hash: string;
  /** Lines of the trace. */
  readonly lines: number;
  /** Simulated time, in ms. */
  readonly simulatedMs: number;
  /** Calls that were made. */
  readonly calls: number;
  /** Planned steps that were come to. */
  readonly reached: number;
  /** Numbers of the steps that were played, where not all were. */
  readonly only?: readonly number[] | undefined;
}

/** What is simulated. */
export interface PlayedWorld {
  readonly seed: number;
  readonly clock: SimulatedClock;
  readonly trace: Trace;
  readonly judge: Judge;
  /** Calls that were made so far. */
  readonly calls: number;
  /** Looks at everything. */
  check(): void;
}

/** Plays a world to its end, or to its first violation. No error may reach the process, or the caller. */
export async function play<W extends PlayedWorld>(world: W, run: (world: W) => Promise<void>): Promise<Result> {
  const { seed, judge, trace, clock } = world;
  const escaped = (error: unknown): void => judge.violate('I-4', `an error escaped: ${stackOf(error)}`);
  process.on('unhandledRejection', escaped);
  process.on('uncaughtException', escaped);
  try {
    await run(world);
  } catch (error) {
    judge.violate('I-4', `a throw reached the caller: ${stackOf(error)}`);
  } finally {
    process.off('unhandledRejection', escaped);
    process.off('uncaughtException', escaped);
  }
  const { violation, reached } = judge;
  const { calls } = world;
  return { seed, violation, hash: trace.hash(), lines: trace.length, simulatedMs: clock.now(), calls, reached };
}

/** Lets time pass from one timer to the next, and looks at everything after each. */
export async function pass(world: PlayedWorld, ms: number): Promise<void> {
  const { clock, judge } = world;
  const until = clock.now() + ms;
  do {
    const next = Math.min(clock.nextAt ?? until, until);
    await clock.advance(Math.max(0, next - clock.now()));
    world.check();
  } while (clock.now() < until && judge.violation === undefined);
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}
