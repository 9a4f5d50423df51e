import type { CallRow } from './callRow.ts';
import type { World } from './world.ts';

/** What a fallback does: it answers, fails or hangs, at once or later. Its value is kept in the row while the call is open. */
export function fallBack({ chance, clock }: World, row: CallRow, signal: AbortSignal): unknown {
  const give = (): object => {
    const value = {};
    if (row.outcome === undefined && row.fallback !== undefined) row.fallback.value = value;
    return value;
  };
  return chance.pick<() => unknown>([
    give,
    () => {
      throw new Error('the fallback fails');
    },
    () => Promise.reject(new Error('the fallback fails later')),
    () =>
      new Promise((resolve) => {
        clock.setTimeout(() => resolve(give()), chance.span(1, 100_000));
      }),
    () => new Promise(() => undefined),
    () =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(give()), { once: true });
      }),
  ])();
}
