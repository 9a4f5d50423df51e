import { fromCallback, setup } from 'xstate';
import { failedExit } from '../../src/supervisor/exit.ts';

const endings = {
  crash: {
    actions: () => {
      throw new Error('boom');
    },
  },
  finish: '.finished',
  fail: '.failed',
} as const;

const states = {
  running: {},
  finished: { type: 'final' },
  failed: { type: 'final', output: failedExit(new Error('said so')) },
} as const;

const output = ({ event }: { event: { readonly output?: unknown } }): unknown => event.output;

/** A machine that runs until it is told `crash`, `finish` or `fail`; it cannot take `shutdown`. */
export const worker = setup({}).createMachine({ initial: 'running', states, on: endings, output });

/** Ends when told `shutdown`. */
export const polite = setup({}).createMachine({
  initial: 'running',
  states,
  on: { ...endings, shutdown: '.finished' },
  output,
});

/** Takes `shutdown` and goes on. */
export const stubborn = setup({}).createMachine({
  initial: 'running',
  states,
  on: { ...endings, shutdown: { actions: () => {} } },
  output,
});

/** Throws at every start. */
export const broken = fromCallback(() => {
  throw new Error('cannot start');
});
