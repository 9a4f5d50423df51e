import type { Clock } from '../policy/clock.ts';
import type { ThreadState } from './codexThreadState.ts';

/** Has turns end and threads take no more input. Resolves when the work has ended, however it did, or at the limit in ms. */
export function drain(
  clock: Clock,
  threads: Iterable<ThreadState>,
  work: Iterable<Promise<unknown>>,
  limitMs: number,
): Promise<void> {
  for (const thread of threads) {
    thread.closed = true;
    thread.turn?.cancel(new Error('Codex is being stopped'));
  }
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, limitMs, { ref: true });
    const done = (): void => {
      clock.clearTimeout(timer);
      resolve();
    };
    Promise.all(work).then(done, done);
  });
}
