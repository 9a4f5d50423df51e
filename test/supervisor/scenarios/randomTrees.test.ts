import { describe, expect, it } from 'vitest';
import { type AnyActorLogic, type EventObject, fromCallback, setup } from 'xstate';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import type { Supervisor } from '../../../src/supervisor/supervisor.ts';
import { supervisorSpec } from '../../../src/supervisor/supervisorLogic.ts';
import type { TreeNode } from '../../../src/supervisor/tree.ts';
import { seededRandom } from '../../../testing/random.ts';
import { isSettled } from '../../support/deferred.ts';
import { newRoot } from '../startRoot.ts';

/** A world of one seed: a random tree whose leaves each hold a resource while they live, and what can happen to it. */
function createWorld(seed: number) {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  /** By incarnation of a leaf: opened when it starts, closed when it is over. */
  const open = new Map<object, string>();
  let lastId = 0;
  let starts = 0;
  let exits = 0;

  const leaf = (id: string, flaky: boolean): AnyActorLogic => {
    let began = 0;
    const resource = fromCallback<EventObject>(() => {
      const token = {};
      open.set(token, id);
      return () => void open.delete(token);
    });
    const boom = (): never => {
      throw new Error('boom');
    };
    const fails = (): void => void (flaky && ++began > 1 && random() < 0.3 && boom());
    return setup({ actors: { resource }, actions: { boom, fails } }).createMachine({
      initial: 'up',
      invoke: { src: 'resource' },
      on: {
        crash: { actions: 'boom' },
        finish: '.over',
        ...(random() < 0.5 && { shutdown: pick(['.over', '.deaf']) }),
      },
      states: { up: { entry: 'fails' }, deaf: {}, over: { type: 'final' } },
    });
  };
  const spec = (depth: number): ChildSpec => {
    const id = `c${++lastId}`;
    const common = {
      restart: pick(['permanent', 'permanent', 'transient', 'temporary'] as const),
      intensity: pick([0, 1, 3, Number.POSITIVE_INFINITY]),
      periodMs: 5000,
      backoff: { baseMs: pick([0, 10, 100]), firstImmediate: random() < 0.3 },
      mailbox: { capacity: pick([0, 2]) },
      quarantineMs: pick([1000, Number.POSITIVE_INFINITY]),
      onStart: () => void starts++,
      onExit: () => void exits++,
    };
    if (depth === 0 || random() < 0.6) {
      const shutdown = pick([10, 1000, 'infinity', 'brutal_kill'] as const);
      return { id, logic: leaf(id, random() < 0.3), shutdown, ...common };
    }
    return { ...supervisorSpec(id, options(depth - 1)), ...common };
  };
  const options = (depth: number) => ({
    strategy: pick(['one_for_one', 'one_for_all', 'rest_for_one'] as const),
    intensity: pick([1, 5, 30]),
    maxStopMs: pick([500, 60_000]),
    children: Array.from({ length: 1 + below(4) }, () => spec(depth)),
  });
  const started = newRoot({ ...options(2), random });
  started.root.start();

  /** A random supervisor of the tree, and one of its children. */
  const choose = (from: Supervisor): readonly [Supervisor, string] => {
    const { id } = pick<{ readonly id: string }>(from.children().length > 0 ? from.children() : [{ id: 'nobody' }]);
    const nested = random() < 0.6 ? from.nested(id) : undefined;
    return nested === undefined ? [from, id] : choose(nested);
  };
  const act = (): void => {
    const [supervisor, id] = choose(started.root);
    const deeds: (() => unknown)[] = [
      () => supervisor.send(id, { type: 'crash' }),
      () => supervisor.send(id, { type: 'crash' }),
      () => supervisor.send(id, { type: 'finish' }),
      () => supervisor.ref(id)?.send({ type: 'xstate.stop' }),
      () => void supervisor.stopChild(id),
      () => supervisor.restartChild(id),
      () => supervisor.deleteChild(id),
      () => supervisor.startChild(spec(1)),
    ];
    try {
      pick(deeds)();
    } catch (error) {
      // Refused, as it may be in this state; anything else is a defect.
      if (!/Expected|failed to start|has no child/.test(String(error))) throw error;
    }
  };
  return { ...started, open, act, pick, starts: () => starts, exits: () => exits };
}

/** Ids of the live leaves of a tree. */
const liveLeaves = (node: TreeNode): string[] =>
  node.children === undefined ? (node.machineState === undefined ? [] : [node.id]) : node.children.flatMap(liveLeaves);

const statesOf = ({ state, children = [] }: TreeNode): string[] => [state, ...children.flatMap(statesOf)];

const settled: ReadonlySet<string> = new Set(['running', 'stopped', 'quarantined']);

describe('a random tree under random faults', () => {
  it('[V-2] [V-5] [I-3] scenario 45: leaves no orphan, ends each incarnation once, and always stops', async () => {
    for (let seed = 0; seed < 100; seed++) {
      const { root, clock, open, act, pick, starts, exits, told } = createWorld(seed);
      for (let step = 0; step < 40; step++) {
        act();
        if (pick([true, false])) await clock.advance(pick([0, 1, 10, 100, 1000, 10_000]));
        // No orphan, none missing: what is open is what the tree says is live.
        expect([...open.values()].toSorted(), `seed ${seed}, step ${step}`).toEqual(liveLeaves(root.tree()).toSorted());
      }
      await clock.advance(1_000_000);
      // Nobody is left on the way.
      expect(
        statesOf(root.tree()).filter((state) => !settled.has(state)),
        `seed ${seed}`,
      ).toEqual([]);
      const stop = root.stop();
      await clock.advance(60_000);
      expect(await isSettled(stop), `seed ${seed}`).toBe(true);
      expect([root.count().active, open.size, clock.pending], `seed ${seed}`).toEqual([0, 0, 0]);
      await clock.advance(1_000_000);
      expect([root.tree().state, root.count().active, open.size], `seed ${seed}`).toEqual(['stopped', 0, 0]);
      expect([exits(), told('listener.failed')], `seed ${seed}`).toEqual([starts(), []]);
    }
  });
});
