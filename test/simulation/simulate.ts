import { pass, play, type Result } from './play.ts';
import { steps } from './steps.ts';
import { World, type WorldOptions } from './world.ts';

/** Runs one seed to its end, or to its first violation. */
export function simulate(options: WorldOptions): Promise<Result> {
  return play(new World(options), async (world) => {
    await live(world);
    await end(world);
    await realTimers();
  });
}

async function live(world: World): Promise<void> {
  const { chance, judge } = world;
  const length = chance.integer(20, 200);
  const startsAt = chance.happens(0.8) ? 0 : chance.integer(1, 20);
  for (let step = 0; step < length && judge.violation === undefined && !world.over; step++) {
    if (step === startsAt) world.start();
    chance.weighted(steps)(world);
    await pass(world, randomMs(world));
  }
}

/** The stop, and then everything that still comes late. */
async function end(world: World): Promise<void> {
  const { judge, chance, integrations } = world;
  world.stop();
  while (!world.over && judge.violation === undefined) await pass(world, chance.span(1, 5000));
  world.checkStopped();
  for (const { attempts } of integrations) for (const work of [...attempts.works.keys()]) work.end(work.plan.ending);
  for (const integration of integrations) integration.call(undefined);
  for (const session of world.sessions) session.send('user');
  await pass(world, 3_600_000);
  world.checkStopped();
}

function randomMs({ chance, clock }: World): number {
  return chance.weighted<() => number>([
    [3, () => 0],
    [3, () => chance.span(1, 20)],
    [3, () => Math.max(0, (clock.nextAt ?? clock.now()) - clock.now())],
    [4, () => chance.span(20, 2000)],
    [2, () => chance.span(2000, 60_000)],
    [0.2, () => chance.span(60_000, 3_600_000)],
  ])();
}

/** What XState throws for nobody comes by a real timer. */
function realTimers(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}
