import { playPlan, type Steps } from '../plan.ts';
import { pass, play, type Result } from '../play.ts';
import { type PaymentOptions, PaymentWorld } from './paymentWorld.ts';

/** What may happen next, and how often. Time passes in between. */
const steps: Steps<PaymentWorld> = [
  [10, (world) => world.send()],
  [3, (world) => world.sendAgain()],
  [5, (world) => world.changeMood()],
  [4, (world) => world.killBank()],
  [2, (world) => world.kill()],
  [2, (world) => world.crashLoop()],
  [1, (world) => world.stop()],
  [8, (world) => world.start()],
  [3, (world) => world.order()],
  [1, (world) => world.stall()],
  [2, (world) => world.rush()],
  [3, (world) => world.closeBooks()],
];

/** Runs one seed of payments to its end, or to its first violation. */
export function simulatePayments(options: PaymentOptions): Promise<Result> {
  return play(new PaymentWorld(options), async (world) => {
    const { chance } = world;
    world.start();
    await playPlan(world, {
      count: chance.integer(10, 40),
      steps,
      pauseMs: () => (chance.happens(0.2) ? 0 : chance.span(1, 60_000)),
      only: options.only,
    });
    await end(world);
  });
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
