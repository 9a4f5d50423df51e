import { setup } from 'xstate';

/** Answers `ask` by calling `answered`. */
export interface Ask {
  readonly type: 'ask';
  readonly answered: () => void;
}

/** A machine with nothing to do. */
export const idle = setup({}).createMachine({ initial: 'waiting', states: { waiting: {} } });

/** A machine that waits for a minute, longer than any case takes. */
export const timed = setup({}).createMachine({
  initial: 'waiting',
  states: { waiting: { after: { 60_000: 'over' } }, over: {} },
});

/** A machine that answers `ask` and throws when it is told `crash`. */
export const answering = setup({ types: { events: {} as Ask | { readonly type: 'crash' } } }).createMachine({
  on: {
    ask: { actions: ({ event }) => event.answered() },
    crash: {
      actions: () => {
        throw new Error('crashed as told');
      },
    },
  },
});
