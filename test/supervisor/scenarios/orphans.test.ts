import { describe, expect, it } from 'vitest';
import { type AnyActorRef, type EventObject, fromCallback, setup } from 'xstate';
import { startRoot } from '../startRoot.ts';

const crash = {
  actions: () => {
    throw new Error('boom');
  },
};
const crashInner = {
  actions: ({ self }: { self: AnyActorRef }) => {
    const { children } = self.getSnapshot() as { children: Record<string, AnyActorRef> };
    children['inner']?.send({ type: 'crash' });
  },
};

/** A machine with a resource that is open until its cleanup runs; `outer` has an `inner` one beside its own. */
const startHolder = (kind: 'inner' | 'outer' | 'handling') => {
  const open = new Set<string>();
  const resource = fromCallback<EventObject, string>(({ input }) => {
    open.add(input);
    return () => open.delete(input);
  });
  const inner = setup({ actors: { resource } }).createMachine({
    invoke: { src: 'resource', input: 'inner' },
    on: { crash },
  });
  const outer = setup({ actors: { resource, inner } }).createMachine({
    initial: 'both',
    invoke: { src: 'resource', input: 'outer' },
    on: { crash, crashInner },
    states: { both: { invoke: { src: 'inner', id: 'inner' } } },
  });
  const handling = setup({ actors: { resource, inner } }).createMachine({
    initial: 'both',
    invoke: { src: 'resource', input: 'outer' },
    on: { crash, crashInner },
    states: { both: { invoke: { src: 'inner', id: 'inner', onError: 'alone' } }, alone: {} },
  });
  const logic = { inner, outer, handling }[kind];
  return { ...startRoot([{ id: 'a', logic, restart: 'temporary' }]), open };
};

describe('the children of a machine that threw', () => {
  it('[V-7] are stopped: no invoked child is left running', () => {
    const { open, crash } = startHolder('inner');
    expect([...open]).toEqual(['inner']);
    crash('a');
    expect([...open]).toEqual([]);
  });

  it('[V-7] are stopped with their own children', () => {
    const { open, crash } = startHolder('outer');
    crash('a');
    expect([...open]).toEqual([]);
  });

  it('[V-7] are stopped also where one of them died first and took it along', () => {
    const { open, root } = startHolder('outer');
    root.send('a', { type: 'crashInner' });
    expect([...open]).toEqual([]);
  });

  it('[V-7] are stopped also where its parent handles the error and lives on', () => {
    const { open, root } = startHolder('handling');
    root.send('a', { type: 'crashInner' });
    expect([...open]).toEqual(['outer']);
    expect(root.tree().children).toMatchObject([{ state: 'running', machineState: 'alone' }]);
  });

  it('[V-7] are stopped when it throws on its very first action', () => {
    const open = new Set<string>();
    const resource = fromCallback(() => {
      open.add('resource');
      return () => open.delete('resource');
    });
    const machine = setup({ actors: { resource } }).createMachine({
      invoke: { src: 'resource' },
      initial: 'a',
      states: {
        a: {
          entry: () => {
            throw new Error('boom');
          },
        },
      },
    });
    const { root } = startRoot([]);
    expect(() => root.startChild({ id: 'a', logic: machine })).toThrow('boom');
    expect([...open]).toEqual([]);
  });
});

describe('a callback whose `receive` throws', () => {
  /** Has something open until its cleanup runs. */
  const startCallback = (isInvoked: boolean, cleanup: () => void = () => undefined) => {
    const open: string[] = [];
    const logic = fromCallback(({ receive }) => {
      open.push('opened');
      receive(({ type }) => {
        if (type === 'crash') throw new Error('boom');
      });
      return () => {
        open.push('closed');
        cleanup();
      };
    });
    const machine = setup({ actors: { logic } }).createMachine({
      invoke: { src: 'logic', id: 'inner' },
      on: { crash: crashInner },
    });
    return { ...startRoot([{ id: 'a', logic: isInvoked ? machine : logic, restart: 'temporary' }]), open };
  };

  it.each([
    ['a child itself', false, 'crash'],
    ['invoked by a child', true, 'xstate.error.actor.inner'],
  ])('[I-3] has its cleanup run once, where XState runs none: %s', (_, isInvoked, lastEvent) => {
    const { root, open, told } = startCallback(isInvoked);
    root.send('a', { type: 'ask' });
    root.send('a', { type: 'crash' });
    expect(open).toEqual(['opened', 'closed']);
    expect(root.ref('a')).toBeUndefined();
    expect(told('child.crashed')).toMatchObject([{ lastEvent }]);
  });

  it('[I-3] may throw in its cleanup too', () => {
    const { root, open } = startCallback(false, () => {
      throw new Error('cannot close');
    });
    root.send('a', { type: 'crash' });
    expect([open, root.ref('a')]).toEqual([['opened', 'closed'], undefined]);
  });

  it('[I-3] has its cleanup run once when it is stopped in order', async () => {
    const { root, open } = startCallback(false);
    await root.stopChild('a');
    expect(open).toEqual(['opened', 'closed']);
  });
});
