import { type EventRow, factOf } from '../../src/store/face.ts';

/** Place of an event among the records of its session: behind the `nth` that was recorded in the ms `at` since the epoch, or that one itself. */
export interface EventPlace {
  readonly at: number;
  readonly nth: number;
}

/** Event of a session, as its readers get it. */
export interface FeedEvent {
  /** `RUN-NUMBER-AT-NTH`: by it a reader that comes back is given what it missed, by the memory of that process or by the records. */
  readonly id: string;
  readonly session: string;
  readonly data: { readonly type: string; readonly at: number } & Readonly<Record<string, unknown>>;
}

/** Reads what an id says; undefined for one that says no place. */
export function placeIn(id: string): (EventPlace & { readonly run: string; readonly number: number }) | undefined {
  const [, run = '', ...numbers] = /^(\w+)-(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  const [number = 0, at = 0, nth = 0] = numbers.map(Number);
  return run === '' ? undefined : { run, number, at, nth };
}

export const idOf = (run: string, number: number, { at, nth }: EventPlace): string => `${run}-${number}-${at}-${nth}`;

export const isBehind = (one: EventPlace, other: EventPlace): boolean =>
  one.at > other.at || (one.at === other.at && one.nth > other.nth);

/**
 * Gives what the records have of a session as the events that they were told as, each `replayed`: those behind one place and not behind the other. What is
 * kept in another form than it was told is left out.
 * @param rows - of the session, oldest first, from the time of `since` on. @param until - @defaultValue all
 */
export function replayed(
  rows: readonly EventRow[],
  session: string,
  since: EventPlace,
  until: EventPlace = { at: Number.POSITIVE_INFINITY, nth: 0 },
): readonly FeedEvent[] {
  const events: FeedEvent[] = [];
  let place = { at: 0, nth: 0 };
  for (const row of rows) {
    // Others are of its place in the supervision tree, say, and no events of it.
    if (row.metadata['session'] !== session) continue;
    place = { at: row.at, nth: row.at === place.at ? place.nth + 1 : 1 };
    const fact = isBehind(place, since) && !isBehind(place, until) ? factOf(row) : undefined;
    if (fact !== undefined) events.push({ id: idOf('record', 0, place), session, data: { ...fact, replayed: true } });
  }
  return events;
}
