import { pass } from './play.ts';
import type { World } from './world.ts';

/** Time in which everything must have converged once all faults have stopped, in ms: the longest circuit stays open 10 min, and the longest turn takes as long. */
const withinMs = 2 * 3_600_000;
const everyMs = 300_000;

/** All faults stop; people go on asking. Within a bound nothing is stuck any more. */
export async function converge(world: World): Promise<void> {
  const { judge, clock, trace } = world;
  if (!world.started || world.refusing) return;
  trace.note('all faults stop');
  world.calmDown();
  for (const until = clock.now() + withinMs; clock.now() < until && judge.violation === undefined; ) {
    for (const integration of world.integrations) integration.call(undefined);
    for (const session of world.sessions) session.send('user');
    await pass(world, everyMs);
  }
  for (const { name, integration, rows } of world.integrations) {
    judge.expect(integration.state === 'idle', 'Q-2', () => `${name} is ${integration.state} for ever`);
    judge.expect(rows.size === 0, 'Q-2', () => `${[...rows.keys()][0]} never ends`);
    const { attempts, waiting } = integration.stats;
    judge.expect(attempts + waiting === 0, 'Q-2', () => `${name} has ${attempts} attempts for ever, ${waiting} wait`);
  }
  for (const { id, session, current, tools } of world.sessions) {
    const isIdle = session.state === 'idle' && session.waiting === 0 && current === undefined && tools.size === 0;
    judge.expect(isIdle, 'Q-2', () => `${id} is ${session.state} for ever, ${session.waiting} messages wait`);
  }
  const crashed = world.root.tree().children?.find(({ state }) => state !== 'running' && state !== 'stopped');
  judge.expect(crashed === undefined, 'Q-2', () => `${crashed?.id} is ${crashed?.state} for ever`);
}
