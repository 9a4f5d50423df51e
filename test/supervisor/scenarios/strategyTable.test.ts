import { describe, expect, it } from 'vitest';
import { fromCallback, setup } from 'xstate';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import type { Strategy } from '../../../src/supervisor/supervisorOptions.ts';
import { polite, stubborn, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

/** Children `d`, `a`, `c`, `b` in this order. */
const startGroup = (strategy: Strategy, specs: Record<string, Partial<ChildSpec>> = {}) => {
  const children = ['d', 'a', 'c', 'b'].map((id) => ({ id, logic: polite, ...specs[id] }));
  const started = startRoot(children, { strategy });
  started.journal.length = 0;
  return started;
};

describe('the strategy', () => {
  it('[V-2] one_for_one restarts the child alone', async () => {
    const { clock, crash, journal } = startGroup('one_for_one');
    crash('a');
    await clock.advance(100);
    expect(journal).toEqual(['!a', '+a']);
  });

  it('[V-2] one_for_all stops the others in reverse and starts all in order', async () => {
    const { clock, crash, journal } = startGroup('one_for_all');
    crash('a');
    await clock.advance(100);
    expect(journal).toEqual(['!a', '-b', '-c', '-d', '+d', '+a', '+c', '+b']);
  });

  it('[V-2] rest_for_one takes only those started after it', async () => {
    const { clock, crash, journal } = startGroup('rest_for_one');
    crash('a');
    await clock.advance(100);
    expect(journal).toEqual(['!a', '-b', '-c', '+a', '+c', '+b']);
  });

  it('[V-2] uses one slot of the window for the whole group', async () => {
    const { root, clock, crash } = startGroup('one_for_all');
    crash('a');
    await clock.advance(100);
    expect(root.tree().restarts).toBe(1);
    expect(root.tree().children?.map(({ restarts }) => restarts)).toEqual([0, 1, 0, 0]);
  });

  it('[V-2] never brings a temporary bystander back, nor counts it', async () => {
    const { root, clock, crash, journal } = startGroup('one_for_all', { c: { restart: 'temporary' } });
    crash('a');
    await clock.advance(100);
    expect(journal).toEqual(['!a', '-b', '-c', '-d', '+d', '+a', '+b']);
    expect(root.count().specs).toBe(3);
  });

  it('[V-2] leaves children alone that were stopped by hand', async () => {
    const { root, clock, crash, node } = startGroup('one_for_all');
    await root.stopChild('c');
    crash('a');
    await clock.advance(100);
    expect(node('c')?.state).toBe('stopped');
    expect(root.count().active).toBe(3);
  });

  it('[V-2] waits for a stubborn bystander, longer than the backoff if need be', async () => {
    const { clock, crash, journal } = startGroup('one_for_all', { c: { logic: stubborn, shutdown: 1000 } });
    crash('a');
    await clock.advance(999);
    expect(journal).toEqual(['!a', '-b']);
    await clock.advance(1);
    expect(journal).toEqual(['!a', '-b', '-c', '-d', '+d', '+a', '+c', '+b']);
  });

  it('[V-2] merges a second crash into a group restart under way', async () => {
    const { root, clock, crash, journal } = startGroup('one_for_all', { c: { logic: stubborn, shutdown: 1000 } });
    crash('a');
    await clock.advance(50);
    crash('d');
    await clock.advance(950);
    expect(journal).toEqual(['!a', '-b', '!d', '-d', '-c', '+d', '+a', '+c', '+b']);
    expect(root.tree().restarts).toBe(1);
  });

  it('[V-2] widens a group restart under way when an earlier child crashes', async () => {
    const { clock, crash, journal, root } = startGroup('rest_for_one', { b: { logic: stubborn, shutdown: 1000 } });
    crash('c');
    await clock.advance(500);
    crash('d');
    await clock.advance(500);
    expect(journal).toEqual(['!c', '!d', '-b', '-a', '+d', '+a', '+c', '+b']);
    expect(root.count().active).toBe(4);
  });

  it('[V-2] stops what had restarted when a later one fails to start, and tries all again', async () => {
    let failures = 1;
    const flaky = fromCallback(() => {
      if (failures-- === 0) throw new Error('not yet');
    });
    const { root, clock, crash, journal } = startGroup('one_for_all', { c: { logic: flaky } });
    crash('a');
    await clock.advance(100);
    expect(journal).toEqual(['!a', '-b', '-c', '-d', '+d', '+a', '!c', '-a', '-d']);
    await clock.advance(100);
    expect(journal.slice(9)).toEqual(['+d', '+a', '+c', '+b']);
    expect(root.tree().restarts).toBe(2);
  });

  it('[V-2] is left by a child that is stopped by hand meanwhile', async () => {
    const { root, clock, crash, node } = startGroup('one_for_all');
    crash('a');
    await root.stopChild('c');
    await clock.advance(100);
    expect(node('c')?.state).toBe('stopped');
    expect(root.count().active).toBe(3);
  });

  it('[V-2] starts the others when the last one they wait for is stopped by hand', async () => {
    const { root, clock, crash, journal } = startGroup('one_for_all', { d: { logic: stubborn, shutdown: 1000 } });
    crash('a');
    await clock.advance(500);
    void root.stopChild('d');
    await clock.advance(500);
    expect(journal).toEqual(['!a', '-b', '-c', '+a', '+c', '+b', '-d']);
    expect(clock.pending).toBe(0);
  });

  it('[V-2] starts those that are left when one is stopped by hand while the others start', async () => {
    const stopped: string[] = [];
    const started = startGroup('one_for_all', {
      d: { onStart: (_ref, n) => void (n > 1 && started.root.stopChild('c').then(() => stopped.push('c'))) },
    });
    started.crash('a');
    await started.clock.advance(100);
    expect(started.journal.slice(4)).toEqual(['+d', '+a', '+b']);
    expect([started.node('c')?.state, stopped]).toEqual(['stopped', ['c']]);
  });

  it('[V-2] puts the group aside together, and releases it together', async () => {
    const { root, clock, crash } = startGroup('rest_for_one', { a: { intensity: 0 } });
    crash('a');
    await clock.settle();
    const states = () => root.tree().children?.map(({ state }) => state);
    expect(states()).toEqual(['running', 'quarantined', 'quarantined', 'quarantined']);
    root.restartChild('a');
    await clock.settle();
    expect(states()).toEqual(['running', 'running', 'running', 'running']);
  });

  it('[V-2] lets a child be that was restarted by hand while the others were still stopping', async () => {
    const { root, clock, crash, node } = startGroup('one_for_all', { b: { logic: stubborn, shutdown: 1000 } });
    crash('d');
    root.restartChild('a');
    await clock.advance(1000);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2 });
    expect(root.count().active).toBe(4);
  });

  it('[V-2] takes a bystander that crashes before its turn along to quarantine', async () => {
    const { clock, crash, node } = startGroup('rest_for_one', {
      a: { intensity: 0 },
      b: { logic: stubborn, shutdown: 1000 },
    });
    crash('a');
    crash('c');
    await clock.advance(10_000);
    expect(node('c')).toMatchObject({ state: 'quarantined', incarnation: 1 });
  });

  it('[V-2] spares a new child under the id of a temporary bystander that ended meanwhile', async () => {
    const started = startGroup('one_for_all', {
      c: { restart: 'temporary', onExit: () => void started.root.startChild({ id: 'c', logic: worker }) },
      b: { logic: stubborn, shutdown: 1000 },
    });
    started.crash('a');
    started.root.send('c', { type: 'finish' });
    await started.clock.advance(1000);
    expect(started.node('c')?.state).toBe('running');
  });

  it('[V-2] ends a group restart at once when the supervisor is stopped', async () => {
    const { root, clock, crash } = startGroup('one_for_all');
    crash('a');
    await root.stop();
    await clock.advance(1000);
    expect(root.count().active).toBe(0);
  });
});

describe('a significant child', () => {
  const brief = setup({}).createMachine({ initial: 'a', states: { a: { on: { end: 'b' } }, b: { type: 'final' } } });
  const spec = (id: string): ChildSpec => ({ id, logic: brief, restart: 'transient', significant: true });

  it('[V-1] ends the supervisor with any_significant', async () => {
    const insignificant: ChildSpec = { id: 'b', logic: worker, restart: 'transient' };
    const { root, clock } = startRoot([spec('a'), insignificant], { autoShutdown: 'any_significant' });
    root.send('b', { type: 'finish' });
    await clock.settle();
    expect(root.tree().state).toBe('running');
    root.send('a', { type: 'end' });
    await clock.settle();
    expect(root.tree().state).toBe('stopped');
  });

  it('[V-1] ends the supervisor with all_significant when it is the last', async () => {
    const { root, clock } = startRoot([spec('a'), spec('b')], { autoShutdown: 'all_significant' });
    root.send('a', { type: 'end' });
    await clock.settle();
    expect(root.tree().state).toBe('running');
    root.send('b', { type: 'end' });
    await clock.settle();
    expect(root.tree().state).toBe('stopped');
  });

  it('[V-1] does not when it is stopped by hand or as a bystander', async () => {
    const { root, clock, crash } = startRoot([spec('a'), { id: 'b', logic: worker }], {
      autoShutdown: 'any_significant',
      strategy: 'one_for_all',
    });
    crash('b');
    await clock.advance(100);
    await root.stopChild('a');
    expect(root.tree().state).toBe('running');
  });

  it('[V-1] is refused under a supervisor that never looks', () => {
    expect(() => startRoot([spec('a')])).toThrow('`a.significant`');
    expect(() => startRoot([]).root.startChild(spec('a'))).toThrow('`a.significant`');
  });
});
