import { converge } from './liveness.ts';
import { playPlan, usualPauseMs } from './plan.ts';
import { pass, play, type Result } from './play.ts';
import { steps } from './steps.ts';
import { World, type WorldOptions } from './world.ts';

/** Runs one seed to its end, or to its first violation. */
export function simulate(options: WorldOptions): Promise<Result> {
  return play(new World(options), async (world) => {
    const { chance } = world;
    const startsAt = chance.happens(0.8) ? 0 : chance.integer(1, 19);
    await playPlan(world, {
      count: chance.integer(20, 200),
      steps,
      pauseMs: usualPauseMs,
      only: options.only,
      reached: (number) => (number === startsAt ? world.start() : undefined),
    });
    await converge(world);
    await end(world);
    await realTimers();
  });
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

/** Waits for the real timer by which XState throws errors that nobody takes; where there is none, for nothing. */
async function realTimers(): Promise<void> {
  if (!process.getActiveResourcesInfo().includes('Timeout')) return;
  await new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}
