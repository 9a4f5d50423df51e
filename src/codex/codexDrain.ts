import type { Clock } from '../policy/clock.ts';
import { inTime } from '../policy/inTime.ts';
import type { ThreadState } from './codexThreadState.ts';

/** Has turns end and threads take no more input. Resolves when the work has ended, however it did, or at the limit in ms. */
export async function drain(
  clock: Clock,
  threads: Iterable<ThreadState>,
  work: Iterable<Promise<unknown>>,
  limitMs: number,
): Promise<void> {
  for (const thread of threads) {
    thread.closed = true;
    thread.turn?.cancel(new Error('Codex is being stopped'));
  }
  const ended = Promise.all(work).catch(() => undefined);
  await inTime(ended, { clock, limitMs });
}
