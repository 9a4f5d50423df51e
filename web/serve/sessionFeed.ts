import { randomBytes } from 'node:crypto';

/** Event of a session, as its readers get it. */
interface FeedEvent {
  /** `RUN-NUMBER`: by it a reader that comes back is given what it missed. */
  readonly id: string;
  readonly session: string;
  readonly data: { readonly type: string } & Readonly<Record<string, unknown>>;
}

/** Events that are kept for readers that come back, of all sessions together. */
const mostKept = 10_000;
/** And their size as JSON, in characters. */
const mostSize = 16 * 1024 * 1024;
/** Events that may wait for one reader; one that does not keep up is let go, and comes back. */
const mostWaiting = 1000;

/** Reader of the events of one session. */
export interface FeedReader extends AsyncIterableIterator<FeedEvent, undefined, void> {
  /** True where events before the first one are lost to it. */
  readonly missed: boolean;
  return(): Promise<IteratorResult<FeedEvent, undefined>>;
}

interface Subscription {
  readonly session: string;
  push(event: FeedEvent): void;
  end(): void;
}

/** Events in the sessions of a process: to those who read them now, and for a while to those who come back. */
export class SessionFeed {
  /** Numbers begin anew with each process. */
  readonly #run = randomBytes(4).toString('hex');
  #kept: { readonly event: FeedEvent; readonly number: number; readonly size: number }[] = [];
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
    const event = { id: `${this.#run}-${number}`, session, data };
    const size = JSON.stringify(data).length;
    this.#kept.push({ event, number, size });
    this.#size += size;
    while (this.#kept.length > mostKept || this.#size > mostSize) this.#size -= this.#kept.shift()?.size ?? 0;
    for (const reader of this.#readers) if (reader.session === session) reader.push(event);
  }

  /**
   * Reads the events of a session from now on.
   * @param after - the id of the last event that the reader had. What came since is given first, as far as it is kept.
   */
  read(session: string, after?: string): FeedReader {
    const last = after === undefined ? this.#last : this.#numberOf(after);
    const first = this.#kept[0]?.number ?? this.#last + 1;
    const missed = last === undefined || last < first - 1;
    const from = last ?? 0;
    const queue = this.#kept.filter(({ event, number }) => number > from && event.session === session);
    return this.#subscribe(
      session,
      queue.map(({ event }) => event),
      missed,
    );
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

  /** Undefined for an id of another process, or none of ours. */
  #numberOf(id: string): number | undefined {
    const [run, text = ''] = id.split('-');
    const number = Number(text);
    return run === this.#run && Number.isSafeInteger(number) && number <= this.#last ? number : undefined;
  }

  #subscribe(session: string, queue: FeedEvent[], missed: boolean): FeedReader {
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
      async next() {
        while (queue.length === 0 && !ended) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const value = queue.shift();
        return value === undefined ? { done: true, value: undefined } : { done: false, value };
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
