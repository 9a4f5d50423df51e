import { describe, expect, it } from 'vitest';
import { fromCallback, setup } from 'xstate';
import { machineCatalogue } from '../../cli/machineCatalogue.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { chartOf } from '../../src/inspector/chart.ts';
import { mermaidOf } from '../../src/inspector/mermaid.ts';

const small = setup({
  actors: { worker: fromCallback(() => undefined) },
  guards: { ready: () => true },
  actions: { note: () => undefined },
  delays: { limit: 10 },
}).createMachine({
  id: 'small',
  initial: 'waiting',
  on: { reset: { actions: 'note' }, stop: '.gone' },
  states: {
    waiting: { entry: 'note', exit: 'note', on: { go: { guard: 'ready', target: 'at-work', actions: 'note' } } },
    'at-work': {
      invoke: { id: 'worker', src: 'worker', onError: 'gone' },
      initial: 'first',
      on: { stop: {} },
      states: { first: { after: { limit: 'second' } }, second: { always: { guard: 'ready', target: 'first' } } },
    },
    gone: { type: 'final' },
  },
});

describe('the chart of a machine', () => {
  it('[M-10] has every state with what it does', () => {
    expect(chartOf(small).states).toEqual([
      { id: '', type: 'compound', initial: 'waiting', entry: [], exit: [], invokes: [] },
      { id: 'waiting', parent: '', type: 'atomic', entry: ['note'], exit: ['note'], invokes: [] },
      {
        id: 'at-work',
        parent: '',
        type: 'compound',
        initial: 'at-work.first',
        entry: [],
        exit: [],
        invokes: ['worker'],
      },
      { id: 'at-work.first', parent: 'at-work', type: 'atomic', entry: [], exit: [], invokes: [] },
      { id: 'at-work.second', parent: 'at-work', type: 'atomic', entry: [], exit: [], invokes: [] },
      { id: 'gone', parent: '', type: 'final', entry: [], exit: [], invokes: [] },
    ]);
  });

  it('[M-10] has every transition with its event, guard and actions', () => {
    expect(chartOf(small).transitions).toEqual([
      { from: '', on: 'reset', actions: ['note'] },
      { from: '', to: 'gone', on: 'stop', actions: [] },
      { from: 'waiting', to: 'at-work', on: 'go', guard: 'ready', actions: ['note'] },
      { from: 'at-work', on: 'stop', actions: [] },
      { from: 'at-work', to: 'gone', on: 'worker failed', actions: [] },
      { from: 'at-work.first', to: 'at-work.second', on: 'after limit', actions: [] },
      { from: 'at-work.second', to: 'at-work.first', on: '', guard: 'ready', actions: [] },
    ]);
  });

  it('[M-10] is that of the machine that runs, with the states of the mission', () => {
    const states = chartOf(integrationMachine).states.filter(({ parent }) => parent === '');
    expect(states.map(({ id }) => id)).toEqual(['idle', 'calling', 'backoff', 'open', 'half-open', 'crashed']);
  });

  it.each(Object.entries(machineCatalogue))('[M-10] names no code that has no name in %s', (name, { machine }) => {
    const { states, transitions, machine: id } = chartOf(machine);
    const names = [
      ...states.flatMap(({ entry, exit }) => [...entry, ...exit]),
      ...transitions.flatMap(({ guard, actions }) => [...(guard === undefined ? [] : [guard]), ...actions]),
    ];
    expect(id).toBe(name);
    expect(names.filter((each) => each === 'inline' || each.startsWith('xstate.'))).toEqual([]);
  });
});

describe('the drawing of a machine', () => {
  it('[O-6] shows states, nested ones and what each does, as a Mermaid diagram', () => {
    expect(mermaidOf(chartOf(small))).toBe(`stateDiagram-v2
  [*] --> waiting
  state "waiting" as waiting
  waiting : entry / note
  waiting : exit / note
  state "at-work" as at_work {
    [*] --> at_work_first
    state "first" as at_work_first
    state "second" as at_work_second
  }
  state "gone" as gone
  gone --> [*]
  waiting --> gone : stop
  waiting --> at_work : go [ready] / note
  at_work --> at_work : stop
  at_work --> gone : worker failed
  at_work_first --> at_work_second : after limit
  at_work_second --> at_work_first : [ready]
  note right of at_work
    invokes worker
  end note
  note right of waiting
    in every state that does not say otherwise:
    reset / note
  end note
`);
  });
});
