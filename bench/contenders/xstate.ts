import { assign, createActor, fromPromise, setup } from 'xstate';
import { type Contender, policy, type Setup } from './contender.ts';

/** What one writes with XState alone: a machine for a call, an actor of it for each. No breaker. */
export const xstate: Contender = {
  name: 'xstate',
  about: 'a new actor of a machine for each call, started and sent `call`: retry and timeout; no breaker',
  dear: 1,
  hasSignal: true,
  takesSignal: false,
  start(given) {
    const machine = callMachine(given);
    return {
      call: (input) =>
        new Promise((resolve, reject) => {
          const actor = createActor(machine, { input });
          actor.subscribe({ complete: () => resolve(actor.getSnapshot().output), error: reject });
          actor.start();
          actor.send({ type: 'call' });
        }),
      stop() {},
    };
  },
};

function callMachine({ work, readsSignal, waitMs }: Setup) {
  return setup({
    types: {
      input: {} as number,
      context: {} as { readonly input: number; readonly attempt: number; readonly value: number | undefined },
      events: {} as { type: 'call' },
    },
    actors: {
      work: fromPromise<number, number>(
        readsSignal === true ? ({ input, signal }) => work(input, signal) : ({ input }) => work(input),
      ),
    },
    delays: {
      attemptLimit: policy.attemptMs,
      backoff: ({ context }) => waitMs ?? policy.backoffMs * 2 ** (context.attempt - 1),
    },
    guards: { mayRetry: ({ context }) => context.attempt < policy.maxAttempts },
  }).createMachine({
    context: ({ input }) => ({ input, attempt: 1, value: undefined }),
    initial: 'idle',
    states: {
      idle: { on: { call: 'calling' } },
      calling: {
        invoke: {
          src: 'work',
          input: ({ context }) => context.input,
          onDone: { target: 'succeeded', actions: assign({ value: ({ event }) => event.output }) },
          onError: [{ guard: 'mayRetry', target: 'backoff' }, { target: 'failed' }],
        },
        after: { attemptLimit: [{ guard: 'mayRetry', target: 'backoff' }, { target: 'failed' }] },
      },
      backoff: {
        after: {
          backoff: { target: 'calling', actions: assign({ attempt: ({ context }) => context.attempt + 1 }) },
        },
      },
      succeeded: { type: 'final' },
      failed: { type: 'final' },
    },
    output: ({ context }) => context.value,
  });
}
