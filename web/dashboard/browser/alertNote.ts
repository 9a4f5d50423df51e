import type { AlertLine } from '../snapshot.ts';

/** Tells who looks after an alert, since when, and until when where that is still to come. */
export function noteText(
  { is, by = 'somebody', at, until }: NonNullable<AlertLine['note']>,
  now: number,
): { readonly text: string; readonly at: number; readonly endsAt?: number } {
  if (is === 'acknowledged') return { text: `acknowledged by ${by}`, at };
  if (until === undefined || until <= now) return { text: `was put off by ${by}`, at: until ?? at };
  return { text: `put off by ${by} for`, at, endsAt: until };
}
