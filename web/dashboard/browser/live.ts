import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Change, Frame, ListChange } from '../changes.ts';
import type { AlertLine, BulkLine, IntegrationLine, RuntimeLine, SessionLine, Snapshot, Wait } from '../snapshot.ts';
import { noteEnded } from './endedWaits.ts';

type Head = NonNullable<Change['head']>;

/** A list whose rows change one by one: what shows one row is drawn again only when that row changes. */
export class Rows<R extends { readonly key: string }> {
  readonly #rows = new Map<string, Signal<R>>();
  readonly #keys = signal<readonly string[]>([]);

  /** All rows, in no order. Whoever reads it is told of each change. */
  readonly all: ReadonlySignal<readonly R[]> = computed(() =>
    this.#keys.value.flatMap((key) => this.#rows.get(key)?.value ?? []),
  );

  /** A row; undefined when there is none of this key. */
  row(key: string): R | undefined {
    return this.#rows.get(key)?.value ?? (this.#keys.value, undefined);
  }

  replace(rows: readonly R[]): void {
    const known = new Set(rows.map(({ key }) => key));
    this.apply({ put: rows, gone: [...this.#rows.keys()].filter((key) => !known.has(key)) });
  }

  apply({ put, gone }: ListChange): void {
    batch(() => {
      let moved = gone.length > 0;
      for (const key of gone) this.#rows.delete(key);
      for (const row of put as readonly R[]) {
        const known = this.#rows.get(row.key);
        if (known === undefined) {
          this.#rows.set(row.key, signal(row));
          moved = true;
        } else known.value = row;
      }
      if (moved) this.#keys.value = [...this.#rows.keys()];
    });
  }
}

/** The lists of the last snapshot. */
export const tables = {
  runtimes: new Rows<RuntimeLine>(),
  integrations: new Rows<IntegrationLine>(),
  sessions: new Rows<SessionLine>(),
  waits: new Rows<Wait>(),
  alerts: new Rows<AlertLine>(),
  bulks: new Rows<BulkLine>(),
};

/** State that the server has told last. */
export const head = signal<Head | undefined>(undefined);
export const right = signal<'all' | 'read'>('read');

/** `denied`: the browser has no cookie. `lost`: the server does not answer. `refused`: it lets nobody else watch. `ended`: the gateway has stopped. */
export const link = signal<'connecting' | 'live' | 'lost' | 'denied' | 'refused' | 'ended'>('connecting');
/** Since when the link is lost: wall time of the server in ms. */
export const lostAt = signal(0);
/** Why the server cannot say how things are; empty while it can. */
export const problem = signal('');
export const paused = signal(false);
/** Frames that came while the page was paused. */
export const held = signal(0);
export const isStale = computed(() => link.value !== 'live' || problem.value !== '');

/** The server's time, by the second. */
export const now = signal(Date.now());
let offset = 0;
const queue: (() => void)[] = [];
let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
const retryMs = 2000;

setInterval(() => {
  if (!paused.value && !isStale.value) now.value = Date.now() + offset;
}, 1000);

/** Listens to the server from now on, for figures of the span. Whatever it listened to before is over. */
export function listen(span: string): void {
  source?.close();
  clearTimeout(retry);
  const stream = new EventSource(`/api/stream?span=${encodeURIComponent(span)}`);
  source = stream;
  stream.onopen = () => {
    link.value = 'live';
  };
  stream.onmessage = ({ data }) => take(JSON.parse(String(data)) as Frame);
  stream.onerror = () => {
    if (source !== stream) return;
    if (link.value === 'live') lostAt.value = now.value;
    link.value = link.value === 'denied' ? 'denied' : 'lost';
    // A browser tries again by itself after a loss, and not after a refusal.
    stream.close();
    void explain().then(() => {
      if (source === stream) retry = setTimeout(() => listen(span), retryMs);
    });
  };
}

async function explain(): Promise<void> {
  const answer = await fetch('/api/trees').catch(() => undefined);
  if (answer?.status === 403) link.value = 'denied';
}

export function pause(on: boolean): void {
  paused.value = on;
  if (on) return;
  held.value = 0;
  for (const work of queue.splice(0)) work();
}

/** Does what a frame asks for, or keeps it until the page goes on. */
export function hold(work: () => void): void {
  if (!paused.value) return work();
  queue.push(work);
  held.value = queue.length;
}

function take(frame: Frame): void {
  if (frame.type !== 'all') return hold(() => apply(frame));
  queue.length = 0;
  apply(frame);
}

function apply(frame: Frame): void {
  batch(() => {
    switch (frame.type) {
      case 'all':
        problem.value = '';
        right.value = frame.right;
        head.value = frame.snapshot;
        for (const name of names) tables[name].replace(frame.snapshot[name] as never);
        return follow(frame.snapshot.at);
      case 'change':
        if (frame.change.head !== undefined) head.value = frame.change.head;
        applyLists(frame.change);
        return follow(frame.change.at);
      case 'problem':
        problem.value = frame.message;
        return follow(frame.at);
    }
  });
}

function applyLists({ at, lists }: Change): void {
  const gone = (lists.waits?.gone ?? []).flatMap((key) => tables.waits.row(key) ?? []);
  for (const name of names) {
    const change = lists[name];
    if (change !== undefined) tables[name].apply(change);
  }
  // The other lists tell by now how it ended.
  const over = gone.map((wait) => ({ wait, endedAt: at, how: howItEnded(wait) }));
  noteEnded(over, (key) => tables.waits.row(key) !== undefined, at);
}

const names = Object.keys(tables) as (keyof typeof tables & keyof Snapshot)[];
/** The clocks of two machines, and a message on its way, differ by little all the time: nothing is to jump for it. */
const sameMs = 1500;

function follow(at: number): void {
  if (Math.abs(at - Date.now() - offset) > sameMs) offset = at - Date.now();
  now.value = Math.max(now.value, Date.now() + offset);
  if (Math.abs(now.value - at) > sameMs) now.value = at;
}

/** Describes the end of a wait, as far as it is known now. */
function howItEnded({ sign, name, key }: Wait): string {
  switch (sign) {
    case 'open':
    case 'isolated': {
      const circuit = tables.integrations.row(name)?.circuit;
      if (circuit === undefined || circuit === 'closed') return 'The circuit is closed again: calls go through.';
      return circuit === 'crashed' ? 'Its server crashed, and is started again.' : 'The circuit is in another state.';
    }
    case 'asks':
      return 'It was answered or given up.';
    case 'quarantined':
    case 'crashed':
      return 'It runs again.';
    case 'alert':
      return 'All clear.';
    case 'backoff':
    case 'budget':
    case 'spinning':
    case 'calling':
      return tables.sessions.row(name)?.state === 'idle' ? 'Its turn has ended.' : 'Its turn goes on.';
    case 'recovering':
      return 'What became of the calls is known: the session goes on.';
    case 'dead':
      return 'It was started again, or its record was taken away.';
    case 'letters':
      return 'They were sent again or dismissed.';
    case 'frozen': {
      const runtime = tables.runtimes.row(key.replace(/^frozen /, ''));
      return runtime === undefined ? 'Its process has ended.' : 'It answers again.';
    }
  }
}
