import { playPlan, type Steps, usualPauseMs } from '../plan.ts';
import { pass, play, type Result } from '../play.ts';
import { onMachine } from '../machine/patchSystem.ts';
import { leaveDisk } from './disk.ts';
import { partMakers } from './parts/partMakers.ts';
import { type WholeOptions, WholeWorld } from './wholeWorld.ts';

/** What happens to the host, and to what it stands on. */
const faults: Steps<WholeWorld> = [
  [3, (world) => world.start()],
  [0.5, (world) => world.kill()],
  [0.3, (world) => world.stop()],
  [0.6, (world) => world.disk.changeMood()],
  [0.2, (world) => world.disk.lie()],
  [0.15, (world) => world.cutPower()],
  [0.5, (world) => world.clock.stepWall(world.chance.span(1, 3_600_000) * (world.chance.happens(0.5) ? 1 : -1))],
  [0.5, (world) => world.stall(world.chance.span(10, 60_000))],
  [1, signalSome],
];

/** Somebody kills, stops or asks a process to end, or has one that is stopped go on. */
function signalSome({ machine, chance, trace }: WholeWorld): void {
  const all = [...machine.processes.keys()];
  if (all.length === 0) return;
  const signal = chance.pick(['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGCONT', 'SIGSEGV'] as const);
  trace.note(`somebody sends ${signal} to a process`);
  machine.signal(chance.pick(all), signal);
}

/** Time within which all must have converged once the faults have stopped, in ms. */
const withinMs = 3_600_000;

/** Runs some parts of the runtime through what one seed says, to the end or to the first violation. @param name - of the one part that is played. */
export async function simulateWhole(options: WholeOptions, name?: string): Promise<Result> {
  const names = Object.keys(partMakers);
  const picked = name === undefined ? [0, 1, 2].map((more) => names[(options.seed + more * 3) % names.length]) : [name];
  const makers = [...new Set(picked)].flatMap((each) => partMakers[each ?? ''] ?? []);
  try {
    return await play(new WholeWorld(options, makers), async (world) => {
      const { chance, clock, judge } = world;
      world.start();
      await pass(world, 1000);
      await playPlan(world, {
        count: chance.integer(20, 120),
        steps: [...faults, ...world.parts.flatMap(({ steps }) => steps)],
        pauseMs: usualPauseMs,
        only: options.only,
      });
      world.calmDown();
      for (const until = clock.now() + withinMs; clock.now() < until && judge.violation === undefined; ) {
        world.start();
        for (const part of world.parts) part.ask();
        await pass(world, 120_000);
      }
      await pass(world, 1_800_000);
      if (judge.violation === undefined) for (const part of world.parts) await part.checkQuiet?.();
      judge.expect(world.asked.size === 0, 'Q-2', () => 'something that was asked never ends');
      world.stop();
      while (world.host !== undefined && judge.violation === undefined) await pass(world, 5000);
      await pass(world, 120_000);
      const [left] = world.machine.processes.values();
      judge.expect(left === undefined, 'I-3', () => `${left?.facts.args.join(' ')} runs for ever`);
      if (world.host !== undefined) world.kill();
    });
  } finally {
    onMachine(undefined);
    leaveDisk();
  }
}
