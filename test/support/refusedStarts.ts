import { onTestFinished, vi } from 'vitest';

interface ProcessWrap {
  readonly Process: { readonly prototype: { spawn: (...words: unknown[]) => number } };
}

/**
 * Has the system refuse to start any process of this one, as it does when it is short of something.
 * @param errno - negative, as the system gives it.
 * @returns how it lets them start again.
 */
export function refuseStarts(errno: number): () => void {
  const wrap = (process as unknown as { binding(name: string): ProcessWrap }).binding('process_wrap');
  const spy = vi.spyOn(wrap.Process.prototype, 'spawn').mockReturnValue(errno);
  const restore = (): void => spy.mockRestore();
  onTestFinished(restore);
  return restore;
}

/** What a system is short of when it starts no process. */
export const shortages: readonly (readonly [code: string, errno: number])[] = [
  ['EMFILE', -24],
  ['ENFILE', -23],
  ['EAGAIN', -11],
  ['ENOMEM', -12],
];
