import type { Readable } from 'node:stream';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock } from '../policy/clock.ts';
import { sanitize } from '../policy/sanitize.ts';
import type { RootSupervisor } from '../supervisor/supervisor.ts';
import { actorsBelow, kindOf } from './actors.ts';
import { transitionOf } from './chart.ts';
import type { Disclose } from './disclose.ts';
import { createFrameWriter } from './frameWriter.ts';
import type { OwnFrame } from './frames.ts';
import { createViewer, type Viewer, type ViewerOptions } from './viewer.ts';

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
  readonly closed: boolean;
  /** Ends every stream. */
  close(): void;
  /** Calls back when it is closed, at once when it is already. */
  onClose(listener: () => void): void;
}

/** Most actors shown to a viewer that comes later. */
const maxActors = 500;

/** Watches a tree for as many viewers as come. */
export function createFeed(options: FeedOptions): FrameFeed {
  const { root, clock, name, pid, maxWaiting, stallMs } = options;
  const viewers = new Set<Viewer>();
  const closing = new Set<() => void>();
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
    get closed() {
      return closed;
    },
    close() {
      if (closed) return;
      closed = true;
      for (const viewer of viewers) viewer.end();
      unwatch?.();
      unwatch = undefined;
      for (const listener of closing) listener();
    },
    onClose(listener) {
      if (closed) listener();
      else closing.add(listener);
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
