import type { World } from './world.ts';

type Step = (world: World) => void;

/** What may happen next, and how often. Time passes in between. */
export const steps: readonly (readonly [weight: number, step: Step])[] = [
  [14, (world) => world.chance.pick(world.integrations).call(world.chance.happens(0.3) ? world.signal() : undefined)],
  [4, burst],
  [10, (world) => world.chance.pick(world.sessions).send('user')],
  [6, (world) => world.chance.pick(world.sessions).send('heartbeat')],
  [4, answerSome],
  [3, (world) => world.chance.pick(world.integrations).changeMood()],
  [1.5, (world) => world.chance.pick(world.integrations).crash()],
  [3, (world) => world.chance.pick(world.integrations).restart()],
  [1, (world) => world.crashActor(`integration:${world.chance.pick(world.integrations).name}`)],
  [1, (world) => world.crashActor(`session:${world.chance.pick(world.sessions).id}`)],
  [0.1, (world) => world.storm(`integration:${world.chance.pick(world.integrations).name}`)],
  [0.1, (world) => world.storm(`session:${world.chance.pick(world.sessions).id}`)],
  [0.7, (world) => world.chance.pick(world.integrations).isolate()],
  [2, (world) => world.chance.pick(world.integrations).release()],
  [0.7, (world) => world.chance.pick(world.integrations).reset()],
  [0.7, (world) => world.chance.pick(world.integrations).restartByHand()],
  [2, (world) => world.abortSignal()],
  [1, stepWall],
  [1.5, stall],
  [0.3, (world) => world.stop()],
  [0.3, (world) => world.drain()],
];

function burst(world: World): void {
  const integration = world.chance.pick(world.integrations);
  const signal = world.chance.happens(0.3) ? world.signal() : undefined;
  for (let left = world.chance.integer(2, 12); left > 0; left--) integration.call(signal);
}

/** Work ends out of order, also such as was given up long ago. */
function answerSome(world: World): void {
  const { works } = world.chance.pick(world.integrations).attempts;
  for (const work of [...works.keys()].toReversed()) {
    if (world.chance.happens(0.5)) work.end(work.plan.ending);
  }
}

function stepWall(world: World): void {
  const ms = world.chance.span(1, 86_400_000) * (world.chance.happens(0.5) ? 1 : -1);
  world.trace.note(`the wall clock steps by ${ms}`);
  world.clock.stepWall(ms);
}

/** The event loop is blocked, or the machine sleeps: every timer of that time fires late. */
function stall(world: World): void {
  const ms = world.chance.span(10, 600_000);
  world.trace.note(`the event loop stands still for ${ms}`);
  world.clock.stall(ms);
  world.judge.resumed(ms);
}
