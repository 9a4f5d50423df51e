import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { supervisorSpec } from '../../src/supervisor/supervisorLogic.ts';
import { stubborn, worker } from './actors.ts';
import { newRoot, startRoot } from './startRoot.ts';

describe('the tree', () => {
  it('[V-6] shows what was asked for before the start', () => {
    const { root } = newRoot({ name: 'gateway', children: [{ id: 'a', logic: worker, restart: 'transient' }] });
    expect(root.tree()).toEqual({
      id: 'gateway',
      type: 'supervisor',
      state: 'stopped',
      incarnation: 1,
      restarts: 0,
      restart: 'permanent',
      children: [{ id: 'a', type: 'worker', state: 'stopped', incarnation: 0, restarts: 0, restart: 'transient' }],
    });
  });

  it('[V-6] shows states, restarts, the last error and the next restart', async () => {
    const { root, clock, crash, node } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: stubborn },
      { id: 'c', logic: worker, intensity: 0 },
    ]);
    crash('a');
    crash('c');
    void root.stopChild('b');
    await clock.advance(40);
    expect(node('a')).toMatchObject({ state: 'restarting', restarts: 1, lastError: 'boom', nextRestartInMs: 60 });
    expect(node('b')).toMatchObject({ state: 'stopping', machineState: 'running' });
    expect(node('c')).toMatchObject({ state: 'quarantined', restarts: 0, lastError: 'boom' });
    expect(root.tree().restarts).toBe(1);
    await clock.advance(60);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2, lastError: 'boom', machineState: 'running' });
    expect(node('a')).not.toHaveProperty('nextRestartInMs');
  });

  it('[V-6] shows `starting` to who asks during a start', () => {
    const seen: unknown[] = [];
    const { root, node } = startRoot([]);
    root.startChild({ id: 'a', logic: worker, onStart: () => seen.push(node('a')?.state) });
    expect(seen).toEqual(['starting']);
  });

  it('[V-6] shows nested states as JSON', () => {
    const parallel = setup({}).createMachine({
      type: 'parallel',
      states: { x: {}, y: { initial: 'z', states: { z: {} } } },
    });
    const { node } = startRoot([{ id: 'a', logic: parallel }]);
    expect(node('a')?.machineState).toBe('{"x":{},"y":"z"}');
  });

  it('[V-6] shows what the spec says of the child, such as the length of its queue', () => {
    const { node, told } = startRoot([
      { id: 'a', logic: worker, details: () => ({ queueLength: 3 }) },
      {
        id: 'b',
        logic: worker,
        details: () => {
          throw new Error('boom');
        },
      },
    ]);
    expect(node('a')?.details).toEqual({ queueLength: 3 });
    expect(node('b')).not.toHaveProperty('details');
    expect(told('listener.failed')[0]).toMatchObject({ event: 'details', error: 'boom' });
  });

  it('[V-6] goes down into nested supervisors', () => {
    const { node } = startRoot([supervisorSpec('sub', { children: [{ id: 'a', logic: worker }] })]);
    expect(node('sub')).toMatchObject({
      type: 'supervisor',
      state: 'running',
      children: [{ id: 'a', state: 'running', machineState: 'running' }],
    });
  });

  it('[V-6] can be made into JSON from the root actor, for an inspector', () => {
    const { root } = startRoot([supervisorSpec('sub', { children: [{ id: 'a', logic: worker }] })]);
    expect(JSON.parse(JSON.stringify(root.actor.getSnapshot()))).toEqual(root.tree());
    expect(JSON.parse(JSON.stringify(root.actor.getPersistedSnapshot()))).toMatchObject({
      children: root.tree().children,
    });
  });

  it('[V-6] counts children by what they do', () => {
    const { root, crash } = startRoot([
      { id: 'a', logic: worker },
      { id: 'b', logic: worker },
      { id: 'c', logic: worker, intensity: 0 },
      supervisorSpec('sub'),
    ]);
    crash('b');
    crash('c');
    expect(root.count()).toEqual({ specs: 4, active: 2, restarting: 1, quarantined: 1, workers: 3, supervisors: 1 });
  });
});
