import type { Clock } from '../../policy/clock.ts';
import { systemClock } from '../../runtime/systemClock.ts';

/** A stream of this process, as far as it is written to. */
export type HookStream = Pick<NodeJS.WriteStream, 'write' | 'once' | 'writableLength'>;

/** The reader of a file would take a part for the whole. */
const notKept: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/**
 * Writes, and waits until all that was written is on its way.
 * @param limitMs - how long a host that does not read may keep this process.
 * @returns true when it is written, or no reader is left; false when the reader did not read it, or there is no
 * room for it.
 */
export function writeOut(
  stream: HookStream,
  data: string | Uint8Array,
  limitMs: number,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'> = systemClock,
): Promise<boolean> {
  // Output from before, while the hook went on in the background, may still wait.
  if (data.length === 0 && stream.writableLength === 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const late = clock.setTimeout(() => resolve(false), limitMs, { ref: true });
    const done = (error?: NodeJS.ErrnoException | null): void => {
      clock.clearTimeout(late);
      resolve(!notKept.has(error?.code));
    };
    stream.once('error', done);
    stream.write(data, done);
  });
}
