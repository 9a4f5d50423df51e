import { Readable } from 'node:stream';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock, Timer } from '../policy/clock.ts';
import { sanitize } from '../policy/text/sanitize.ts';
import type { RootSupervisor } from '../supervisor/supervisor.ts';
import { actorsBelow, kindOf } from './actors.ts';
import { transitionOf } from './chart.ts';
import type { Disclose } from './disclose.ts';
import { createFrameWriter } from './frameWriter.ts';
import { endFrame, type OwnFrame } from './frames.ts';

export interface FeedOptions extends Pick<ViewerOptions, 'maxWaiting' | 'stallMs'> {
  readonly root: Pick<RootSupervisor, 'actor' | 'inspect'>;
  readonly clock: Clock;
  /** Made when somebody watches for the first time. */
  readonly disclose: () => Disclose;
  /** Name of what runs, for people. */
  readonly name: string;
  readonly pid: number;
}

/** The machines of a runtime as streams of frames. The machines are watched only while somebody reads one. */
export interface FrameFeed {
  /** Streams what is there now, then what happens, for one viewer; each chunk is the JSON of a frame. @throws Error when it is closed. */
  open(): Readable;
  /** Viewers at the moment. */
  readonly viewers: number;
  /** Ends every stream. */
  close(): void;
}

/** Most actors shown to a viewer that comes later. */
const maxActors = 500;

/** Watches a tree for as many viewers as come. */
export function createFeed(options: FeedOptions): FrameFeed {
  const { root, clock, name, pid, maxWaiting, stallMs } = options;
  const viewers = new Set<Viewer>();
  let writer: ReturnType<typeof createFrameWriter> | undefined;
  let unwatch: (() => void) | undefined;
  let closed = false;

  const write = () => (writer ??= createFrameWriter(root.actor.sessionId, options.disclose(), () => clock.wallNow()));

  function* replay(): Generator<string, void, undefined> {
    yield own({ type: 'unwedge.hello', name: sanitize(name), pid });
    let shown = 0;
    let more = 0;
    yield present(root.actor);
    for (const ref of actorsBelow(root.actor)) {
      if (shown < maxActors) yield present(ref);
      else more += 1;
      shown += 1;
    }
    if (more > 0) yield own({ type: 'unwedge.more', actors: more });
  }

  function present(ref: AnyActorRef): string {
    return write().actor(ref, ref.getSnapshot());
  }

  function tellAll(frame: string): void {
    for (const viewer of viewers) viewer.tell(frame);
  }

  function observe(event: InspectionEvent): void {
    const ref = event.actorRef as AnyActorRef;
    if (kindOf(ref) === 'slot') return;
    switch (event.type) {
      case '@xstate.actor':
        // It has no snapshot yet.
        return tellAll(write().actor(ref, undefined));
      case '@xstate.event':
        return tellAll(write().event(ref, event.event, senderOf(event.sourceRef as AnyActorRef | undefined)));
      case '@xstate.snapshot':
        return tellAll(write().snapshot(ref, event.event, event.snapshot));
      case '@xstate.microstep': {
        const taken = event._transitions.map(transitionOf);
        if (taken.length > 0) tellAll(own({ type: 'unwedge.transition', sessionId: ref.sessionId, taken }));
        return;
      }
      case '@xstate.action':
      case '@xstate.transition':
        return;
    }
  }

  function leave(viewer: Viewer): void {
    viewers.delete(viewer);
    if (viewers.size > 0) return;
    unwatch?.();
    unwatch = undefined;
  }

  return {
    open() {
      if (closed) throw new Error('The gateway has stopped');
      const viewer: Viewer = createViewer({ clock, maxWaiting, stallMs, replay, onGone: () => leave(viewer) });
      viewers.add(viewer);
      unwatch ??= root.inspect(observe);
      return viewer.stream;
    },
    get viewers() {
      return viewers.size;
    },
    close() {
      if (closed) return;
      closed = true;
      for (const viewer of viewers) viewer.end();
      unwatch?.();
      unwatch = undefined;
    },
  };
}

function own(frame: OwnFrame): string {
  return JSON.stringify(frame);
}

/** Finds the sender: a slot speaks for the machine that it is of. */
function senderOf(source: AnyActorRef | undefined): string | undefined {
  if (source === undefined) return undefined;
  return kindOf(source) === 'slot' ? senderOf(source._parent as AnyActorRef | undefined) : source.sessionId;
}

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
