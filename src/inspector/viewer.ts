import { Readable } from 'node:stream';
import type { Clock, Timer } from '../policy/clock.ts';
import { endFrame, type OwnFrame } from './frames.ts';

export interface ViewerOptions {
  readonly clock: Clock;
  /** Gives what is there now, as frames. */
  readonly replay: () => Iterable<string>;
  /** Told once, when the viewer has gone. */
  readonly onGone: () => void;
  /** Frames that may wait to be read. @defaultValue 1000 */
  readonly maxWaiting?: number | undefined;
  /** Time that a viewer that misses frames may go without reading before it is let go, in ms. @defaultValue 30000 */
  readonly stallMs?: number | undefined;
}

/** A page that watches. */
export interface Viewer {
  /** The frames, each a chunk of its own. Destroying it ends the watching. */
  readonly stream: Readable;
  /** Passes a frame on, or counts it as missed. */
  tell(frame: string): void;
  /** Ends the stream behind what waits. */
  end(): void;
}

/**
 * A viewer whose slowness costs bounded memory: what it cannot take is left out, and once it has read what waits it is told so and shown
 * what is there now.
 */
export function createViewer(options: ViewerOptions): Viewer {
  const { clock, replay, onGone, maxWaiting = 1000, stallMs = 30_000 } = options;
  let waiting: string[] = [...replay()];
  let next = 0;
  let missed = 0;
  let wanting = false;
  let ended = false;
  let stall: Timer | undefined;

  const stream = new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      wanting = true;
      pass();
    },
    destroy(error, done) {
      clock.clearTimeout(stall);
      waiting = [];
      ended = true;
      onGone();
      done(error);
    },
  });

  function pass(): void {
    if (next >= waiting.length) {
      waiting = missed > 0 ? [gap(missed), ...replay()] : [];
      next = 0;
      missed = 0;
      clock.clearTimeout(stall);
    }
    const frame = waiting[next];
    if (frame !== undefined) {
      next += 1;
      wanting = false;
      stream.push(frame);
    } else if (ended) {
      wanting = false;
      stream.push(null);
    }
  }

  return {
    stream,
    tell(frame) {
      if (ended) return;
      if (missed > 0 || waiting.length - next >= maxWaiting) {
        if (missed === 0) stall = clock.setTimeout(() => stream.destroy(), stallMs);
        missed += 1;
        return;
      }
      if (next > maxWaiting) {
        waiting = waiting.slice(next);
        next = 0;
      }
      waiting.push(frame);
      if (wanting) pass();
    },
    end() {
      if (ended) return;
      waiting.push(endFrame);
      ended = true;
      if (wanting) pass();
    },
  };
}

function gap(missed: number): string {
  return JSON.stringify({ type: 'unwedge.gap', missed } satisfies OwnFrame);
}
