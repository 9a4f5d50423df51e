import { Readable } from 'node:stream';
import type { Clock, Timer } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { changeOf, type Frame } from './changes.ts';
import type { Snapshot } from './snapshot.ts';

interface FeedOptions {
  readonly clock: Clock;
  readonly source: { readonly snapshot: (spanMs: number) => Promise<Snapshot> };
  /** Time in ms after a look until the next one. @defaultValue 1000 */
  readonly everyMs?: number | undefined;
}

interface Viewer {
  readonly stream: Readable;
  readonly spanMs: number;
  readonly right: 'all' | 'read';
  /** Snapshot it was told last; undefined before the first, and after a trouble. */
  told: Snapshot | undefined;
  /** True once it has read all that it was told. */
  wants: boolean;
  problem: string;
}

/** Tells viewers how things are and what changes. Looks only while somebody watches; the memory for a slow viewer is one snapshot. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #viewers = new Set<Viewer>();
  #timer: Timer | undefined;
  #looking = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Frames as JSON, each a chunk. Destroying the stream ends the watching. */
  open(spanMs: number, right: Viewer['right']): Readable {
    const stream = new Readable({
      objectMode: true,
      highWaterMark: 1,
      read: () => {
        viewer.wants = true;
      },
      destroy: (error, done) => {
        this.#viewers.delete(viewer);
        if (this.#viewers.size === 0) this.#rest();
        done(error);
      },
    });
    const viewer: Viewer = { stream, spanMs, right, told: undefined, wants: true, problem: '' };
    this.#viewers.add(viewer);
    this.look();
    return stream;
  }

  /** Looks now: something was ordered, or somebody came. Never throws. */
  look(): void {
    this.#rest();
    if (!this.#looking) void this.#look();
  }

  close(): void {
    for (const { stream } of this.#viewers) stream.destroy();
  }

  #rest(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const { clock, source, everyMs = 1000 } = this.#options;
    this.#looking = true;
    for (const spanMs of new Set(Array.from(this.#viewers, (viewer) => viewer.spanMs))) {
      try {
        const snapshot = await source.snapshot(spanMs);
        for (const viewer of this.#viewers) if (viewer.spanMs === spanMs) tell(viewer, snapshot);
      } catch (error) {
        for (const viewer of this.#viewers) {
          if (viewer.spanMs === spanMs) complain(viewer, Math.round(clock.wallNow()), messageOf(error));
        }
      }
    }
    this.#looking = false;
    if (this.#viewers.size === 0) return;
    // A viewer who came while it looked has not been told anything.
    const isNew = [...this.#viewers].some(({ told, problem }) => told === undefined && problem === '');
    this.#timer = clock.setTimeout(() => this.look(), isNew ? 0 : everyMs);
  }
}

function tell(viewer: Viewer, snapshot: Snapshot): void {
  if (!viewer.wants) return;
  const { told, right } = viewer;
  viewer.told = snapshot;
  viewer.problem = '';
  if (told === undefined) return push(viewer, { type: 'all', right, snapshot });
  const change = changeOf(told, snapshot);
  if (change !== undefined) push(viewer, { type: 'change', change });
}

function complain(viewer: Viewer, at: number, message: string): void {
  if (!viewer.wants || viewer.problem === message) return;
  viewer.problem = message;
  viewer.told = undefined;
  push(viewer, { type: 'problem', at, message });
}

function push(viewer: Viewer, frame: Frame): void {
  viewer.wants = false;
  viewer.stream.push(JSON.stringify(frame));
}
