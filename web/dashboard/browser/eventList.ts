import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../../src/policy/failures/face.ts';
import type { EventRow } from '../../../src/store/face.ts';
import type { EventPage } from '../eventPages.ts';
import { get } from './api.ts';
import { isStale, paused } from './live.ts';

/** Events that are shown at a time: for more, the reader narrows the search. */
export const mostShown = 2000;
const everyMs = 1000;
const pageSize = 100;
/** Pages that are asked for one after the other while they hold nothing that was searched. */
const mostEmpty = 50;

interface Listed {
  /** Newest first. */
  readonly events: readonly EventRow[];
  /** Start of the older ones; undefined when there are none. */
  readonly older: number | undefined;
  readonly state: 'loading' | 'searching' | 'shown';
  readonly error: string;
}

export interface EventList extends Listed {
  /** New events that wait behind a button. */
  readonly waiting: number;
  readonly show: () => void;
  readonly more: () => void;
}

const empty: Listed = { events: [], older: undefined, state: 'loading', error: '' };

/** The events of a query: the newest, those that come, and older ones on demand. Each is there once. */
export function useEvents(query: string): EventList {
  const [listed, setListed] = useState<Listed>(empty);
  const [fresh, setFresh] = useState<readonly EventRow[]>([]);
  const freshest = useRef(fresh);
  freshest.current = fresh;
  const search = useRef<{ isOver: boolean }>({ isOver: false });

  const failed = (error: unknown, mine: { isOver: boolean }): void => {
    if (!mine.isOver) setListed((known) => ({ ...known, state: 'shown', error: messageOf(error) }));
  };

  const older = async (before: number | undefined, mine: { isOver: boolean }): Promise<number | undefined> => {
    let from = before;
    let newest: number | undefined;
    for (let page = 0; page < mostEmpty && !mine.isOver; page++) {
      const at = from === undefined ? '' : `&before=${from}`;
      const found = await get<EventPage>(`/api/events?${query}&limit=${pageSize}${at}`);
      newest ??= found.newest;
      if (mine.isOver) return undefined;
      setListed((known) => ({
        ...{ events: joined(known.events, found.events), older: found.older, error: '' },
        state: found.events.length > 0 || found.older === undefined ? 'shown' : 'searching',
      }));
      from = found.older;
      if (found.events.length > 0 || from === undefined) break;
    }
    if (!mine.isOver) setListed((known) => ({ ...known, state: 'shown' }));
    return newest;
  };

  useEffect(() => {
    const mine = { isOver: false };
    search.current = mine;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let newest: number | undefined;
    setListed(empty);
    setFresh([]);
    const look = async (): Promise<void> => {
      if (!paused.value && !isStale.value) {
        try {
          if (newest === undefined) newest = await older(undefined, mine);
          else newest = await take(newest);
        } catch (error) {
          failed(error, mine);
        }
      }
      if (!mine.isOver) timer = setTimeout(() => void look(), everyMs);
    };
    const take = async (after: number): Promise<number | undefined> => {
      const found = await get<EventPage>(`/api/events?${query}&limit=${pageSize}&after=${after}`);
      if (mine.isOver) return after;
      // Another database stands in its place: ids begin anew.
      if (found.newest < after) {
        setListed(empty);
        return undefined;
      }
      if (found.events.length > 0) {
        if (scrollY < 40) setListed((known) => ({ ...known, events: joined(found.events, known.events), error: '' }));
        else setFresh((known) => joined(found.events, known));
      }
      return found.newest;
    };
    void look();
    return () => {
      mine.isOver = true;
      clearTimeout(timer);
    };
  }, [query]);

  return {
    ...listed,
    waiting: fresh.length,
    show() {
      setListed((known) => ({ ...known, events: joined(freshest.current, known.events) }));
      setFresh([]);
      scrollTo(0, 0);
    },
    more() {
      const mine = search.current;
      setListed((known) => ({ ...known, state: 'searching' }));
      older(listed.older, mine).catch((error: unknown) => failed(error, mine));
    },
  };
}

/** Newer ones before older ones, each once. */
function joined(newer: readonly EventRow[], older: readonly EventRow[]): readonly EventRow[] {
  const known = new Set(newer.map(({ id }) => id));
  return [...newer, ...older.filter(({ id }) => !known.has(id))].slice(0, mostShown);
}
