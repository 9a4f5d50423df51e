import { type Contender, policy } from './contender.ts';

/** The work by itself. */
export const bare: Contender = {
  name: 'bare',
  about: 'the work, awaited',
  dear: 0,
  hasSignal: false,
  takesSignal: false,
  start: ({ work }) => ({ call: (input) => work(input), stop() {} }),
};

/** What a timeout with an abort takes at the least, where Node's own are used for each call: no retry, no breaker. */
export const controllerAndTimer: Contender = {
  name: 'timer',
  about: 'a new AbortController and setTimeout() around it; no retry, no breaker',
  dear: 0,
  hasSignal: true,
  takesSignal: true,
  start({ work }) {
    return {
      async call(input, signal) {
        const controller = new AbortController();
        const abort = (): void => controller.abort();
        const timer = setTimeout(abort, policy.attemptMs);
        signal?.addEventListener('abort', abort, { once: true });
        try {
          // Whether the work looks at it or not: it cannot be asked before.
          return await work(input, controller.signal);
        } finally {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        }
      },
      stop() {},
    };
  },
};
