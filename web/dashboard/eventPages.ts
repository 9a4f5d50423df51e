import type { EventQuery, EventRow } from '../../src/store/events.ts';
import type { StoreReader } from '../../src/store/storeReader.ts';

/** Some of the events that a search finds. */
export interface EventPage {
  /** Newest first. */
  readonly events: readonly EventRow[];
  /** The id of the newest event that was there: those after it are new. */
  readonly newest: number;
  /** Id to go on from for older ones; undefined when all was looked at. There may be one without any event found. */
  readonly older?: number | undefined;
}

/** Terms of a search, and its start. */
export type EventSearch = Omit<EventQuery, 'among'>;

/** Ids that are looked at for one page: a rare word costs the gateway's machine no more than that at a time. */
const mostLooked = 100_000;

/** Finds what is older than `before`, or what is newer than `after`; each event once, whatever is recorded meanwhile. */
export async function findEvents(
  reader: StoreReader,
  search: EventSearch,
  mostIds: number = mostLooked,
): Promise<EventPage> {
  const newest = await reader.lastEventId();
  if (search.after !== undefined) {
    const found = await reader.events(search);
    const last = found.at(-1)?.id ?? newest;
    return { events: [...found].reverse(), newest: found.length < search.limit ? Math.max(last, newest) : last };
  }
  const { before = newest + 1, limit } = search;
  const found = await reader.events({ ...search, before, among: mostIds });
  const looked = found.length < limit ? before - mostIds : (found[0]?.id ?? 0);
  const isAll = looked <= (await reader.firstEventId());
  return { events: [...found].reverse(), newest, ...(!isAll && { older: looked }) };
}
