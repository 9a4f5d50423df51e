import { randomBytes } from 'node:crypto';
import { type EventRow, storedEvent } from '../../src/store/face.ts';
import type { Fact, Told } from '../../src/policy/facts/face.ts';
import { type EventPlace, type FeedEvent, idOf, isBehind, placeIn, replayed } from './eventPlace.ts';

/** Events that are kept for readers that come back, of all sessions together. */
const mostKept = 10_000;
/** And their size as JSON, in characters. */
const mostSize = 16 * 1024 * 1024;
/** Events that may wait for one reader; one that does not keep up is let go, and comes back. */
const mostWaiting = 1000;

/** Reader of the events of one session. */
export interface FeedReader extends AsyncIterableIterator<FeedEvent, undefined, void> {
  /** True where events before the first one are not in memory any more. */
  readonly missed: boolean;
  /** Place behind which the records have what it missed; undefined where it missed nothing, or nobody knows since when. */
  readonly since: EventPlace | undefined;
  /** Gives what it missed, by the records: what {@link since} is before, and the first event is not. @param rows - from the time of `since` on. */
  replayed(rows: readonly EventRow[]): readonly FeedEvent[];
  return(): Promise<IteratorResult<FeedEvent, undefined>>;
}

interface KeptEvent {
  readonly event: FeedEvent;
  readonly number: number;
  readonly size: number;
  readonly place: EventPlace;
  /** Last place among the records that is before it. */
  readonly before: EventPlace;
}

interface Subscription {
  readonly session: string;
  push(event: KeptEvent): void;
  end(): void;
}

/** Events in the sessions of a process: to those who read them now, and for a while to those who come back. */
export class SessionFeed {
  /** Numbers begin anew with each process. */
  readonly #run = randomBytes(4).toString('hex');
  #kept: KeptEvent[] = [];
  readonly #readers = new Set<Subscription>();
  #last = 0;
  #size = 0;
  #closed = false;

  get readers(): number {
    return this.#readers.size;
  }

  tell(session: string, data: FeedEvent['data']): void {
    if (this.#closed) return;
    const number = ++this.#last;
    const before = this.#placeOf(session, Math.floor(data.at));
    const isRecorded = storedEvent(data as Told<Fact>)?.metadata['session'] === session;
    const place = isRecorded ? { at: before.at, nth: before.nth + 1 } : before;
    const event = { id: idOf(this.#run, number, place), session, data };
    const size = JSON.stringify(data).length;
    const kept = { event, number, size, place, before };
    this.#kept.push(kept);
    this.#size += size;
    while (this.#kept.length > mostKept || this.#size > mostSize) this.#size -= this.#kept.shift()?.size ?? 0;
    for (const reader of this.#readers) if (reader.session === session) reader.push(kept);
  }

  /** Place behind all of a session that was told in this ms. */
  #placeOf(session: string, at: number): EventPlace {
    const last = this.#kept.findLast(({ event, place }) => event.session === session || place.at !== at);
    return last?.place.at === at ? last.place : { at, nth: 0 };
  }

  /**
   * Reads the events of a session from now on.
   * @param after - the id of the last event that the reader had. What came since is given first, as far as it is kept.
   */
  read(session: string, after?: string): FeedReader {
    const since = after === undefined ? undefined : placeIn(after);
    const isOurs = since?.run === this.#run && since.number <= this.#last;
    const last = after === undefined ? this.#last : isOurs ? since.number : undefined;
    const first = this.#kept[0]?.number ?? this.#last + 1;
    const missed = last === undefined || last < first - 1;
    const isLater = ({ number, place, before }: KeptEvent): boolean => {
      if (last !== undefined) return number > last;
      return since === undefined || isBehind(place, since) || (place === before && !isBehind(since, place));
    };
    const queue = this.#kept.filter((kept) => kept.event.session === session && isLater(kept));
    return this.#subscribe(session, queue, missed, missed ? since : undefined);
  }

  /** Lets the readers of a session go, after what waits for them. */
  leave(session: string): void {
    for (const reader of this.#readers) if (reader.session === session) reader.end();
  }

  /** Keeps nothing of a session any more. */
  forget(session: string): void {
    this.#kept = this.#kept.filter(({ event }) => event.session !== session);
    this.#size = this.#kept.reduce((sum, { size }) => sum + size, 0);
  }

  /** Lets every reader go, after what waits for it. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.end();
  }

  #subscribe(session: string, queue: KeptEvent[], missed: boolean, since: EventPlace | undefined): FeedReader {
    let ended = this.#closed;
    let wake: (() => void) | undefined;
    const subscription: Subscription = {
      session,
      push: (event) => {
        queue.push(event);
        if (queue.length > mostWaiting) {
          queue.length = 0;
          subscription.end();
        }
        wake?.();
      },
      end: () => {
        ended = true;
        this.#readers.delete(subscription);
        wake?.();
      },
    };
    if (!ended) this.#readers.add(subscription);
    const reader: FeedReader = {
      missed,
      since,
      replayed: (rows) => (since === undefined ? [] : replayed(rows, session, since, queue[0]?.before)),
      async next() {
        while (queue.length === 0 && !ended) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const value = queue.shift();
        return value === undefined ? { done: true, value: undefined } : { done: false, value: value.event };
      },
      return() {
        queue.length = 0;
        subscription.end();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]: () => reader,
    };
    return reader;
  }
}
