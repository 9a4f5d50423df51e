import { describe, expect, it } from 'vitest';
import {
  type AnyActorLogic,
  type Snapshot,
  createActor,
  fromCallback,
  fromPromise,
  fromTransition,
  setup,
  toPromise,
} from 'xstate';
import { type Traced, TracedLogic } from '../../../src/supervisor/incarnation.ts';

const toggle = setup({}).createMachine({ initial: 'a', states: { a: { on: { x: 'b' } }, b: { on: { y: 'a' } } } });

const run = (logic: AnyActorLogic, ...types: string[]) => {
  const traced: Traced = { lastEvent: undefined };
  const own: AnyActorLogic = new TracedLogic(logic, traced);
  const actor = createActor(own).start();
  for (const type of types) actor.send({ type });
  return { traced, actor };
};

describe('traced logic', () => {
  it('[V-6] notes the last event of any kind of actor', async () => {
    expect(run(toggle, 'x', 'y').traced.lastEvent).toBe('y');
    expect(
      run(
        fromCallback(() => {}),
        'x',
      ).traced.lastEvent,
    ).toBe('x');
    expect(
      run(
        fromTransition((count: number) => count + 1, 0),
        'x',
        'y',
      ).traced.lastEvent,
    ).toBe('y');
    const { traced, actor } = run(fromPromise(() => Promise.resolve(1)));
    expect(traced.lastEvent).toBeUndefined();
    expect(await toPromise(actor)).toBe(1);
    expect(traced.lastEvent).toMatch(/^xstate\.promise/);
  });

  it('[V-6] leaves everything else to the logic', () => {
    const { actor } = run(toggle, 'x');
    const plain = createActor(toggle).start();
    plain.send({ type: 'x' });
    expect(actor.logic.config).toBe(toggle.config);
    expect(actor.getSnapshot()).toMatchObject({ value: 'b', machine: toggle });
    expect(actor.getPersistedSnapshot()).toEqual(plain.getPersistedSnapshot());
  });

  it('[V-7] works for logic with private fields', () => {
    class Counting {
      readonly #step = 2;
      transition(snapshot: { readonly count: number }): unknown {
        return { ...snapshot, count: snapshot.count + this.#step };
      }
      getInitialSnapshot(): unknown {
        return { status: 'active', output: undefined, error: undefined, count: this.#step };
      }
      getPersistedSnapshot(snapshot: Snapshot<unknown>): Snapshot<unknown> {
        return snapshot;
      }
    }
    const logic: AnyActorLogic = new Counting();
    expect(run(logic, 'x').actor.getSnapshot()).toMatchObject({ count: 4 });
  });
});
