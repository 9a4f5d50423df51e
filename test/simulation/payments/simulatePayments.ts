import type { Result } from '../simulate.ts';
import { type PaymentOptions, PaymentWorld } from './paymentWorld.ts';

type Step = (world: PaymentWorld) => void;

/** What may happen next, and how often. Time passes in between. */
const steps: readonly (readonly [weight: number, step: Step])[] = [
  [10, (world) => world.send()],
  [3, (world) => world.sendAgain()],
  [5, (world) => world.changeMood()],
  [4, (world) => world.killBank()],
  [2, (world) => world.kill()],
  [1, (world) => world.stop()],
  [8, (world) => world.start()],
  [3, (world) => world.order()],
  [1, (world) => world.stall()],
];

/** Runs one seed of payments to its end, or to its first violation. */
export async function simulatePayments(options: PaymentOptions): Promise<Result> {
  const world = new PaymentWorld(options);
  const { judge, trace, clock } = world;
  const escaped = (error: unknown): void => {
    judge.violate('I-4', `an error escaped: ${error instanceof Error ? error.stack : String(error)}`);
  };
  process.on('unhandledRejection', escaped);
  process.on('uncaughtException', escaped);
  try {
    await live(world);
    await end(world);
  } catch (error) {
    judge.violate('I-4', `a throw reached the caller: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    process.off('unhandledRejection', escaped);
    process.off('uncaughtException', escaped);
  }
  return {
    seed: options.seed,
    violation: judge.violation,
    hash: trace.hash(),
    lines: trace.length,
    simulatedMs: clock.now(),
  };
}

async function live(world: PaymentWorld): Promise<void> {
  const { chance, judge } = world;
  world.start();
  for (let left = chance.integer(10, 40); left > 0 && judge.violation === undefined; left--) {
    chance.weighted(steps)(world);
    await pass(world, chance.happens(0.2) ? 0 : chance.span(1, 60_000));
  }
}

/** No faults any more: everything comes to its end. */
async function end(world: PaymentWorld): Promise<void> {
  const { judge } = world;
  world.isFaulty = false;
  world.bank.mood = 'well';
  world.start();
  await pass(world, 60_000);
  world.start();
  await pass(world, 3_600_000);
  world.checkQuiet();
  world.stop();
  while (world.life !== undefined && judge.violation === undefined) await pass(world, 5000);
  await pass(world, 120_000);
}

/** Lets time pass from one timer to the next, and looks at everything after each. */
async function pass(world: PaymentWorld, ms: number): Promise<void> {
  const { clock, judge } = world;
  const until = clock.now() + ms;
  do {
    const next = Math.min(clock.nextAt ?? until, until);
    await clock.advance(Math.max(0, next - clock.now()));
    world.check();
  } while (clock.now() < until && judge.violation === undefined);
}
