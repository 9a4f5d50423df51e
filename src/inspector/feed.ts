import type { Readable } from 'node:stream';
import { type AnyActorRef, type AnyTransitionDefinition, createMachine, type InspectionEvent } from 'xstate';
import type { Clock } from '../policy/clock.ts';
import { sanitize } from '../policy/sanitize.ts';
import type { RootSupervisor } from '../supervisor/supervisor.ts';
import { actorsBelow, configOf, kindOf } from './actors.ts';
import { chartOf, type ChartTransition, transitionOf } from './chart.ts';
import type { Disclose } from './disclose.ts';
import { drawChart } from './drawing/drawChart.ts';
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
  const viewers = new Map<Viewer, Set<number>>();
  const closing = new Set<() => void>();
  let writer: ReturnType<typeof createFrameWriter> | undefined;
  let unwatch: (() => void) | undefined;
  let closed = false;

  const write = () => (writer ??= createFrameWriter(root.actor.sessionId, options.disclose(), () => clock.wallNow()));

  function* replay(known: Set<number>): Generator<string, void, undefined> {
    yield own({ type: 'unwedge.hello', name: sanitize(name), pid });
    // A viewer that missed something may have missed drawings.
    known.clear();
    let shown = 0;
    let more = 0;
    yield* present(root.actor, known);
    for (const ref of actorsBelow(root.actor)) {
      if (shown < maxActors) yield* present(ref, known);
      else more += 1;
      shown += 1;
    }
    if (more > 0) yield own({ type: 'unwedge.more', actors: more });
  }

  function* present(ref: AnyActorRef, known: Set<number>): Generator<string, void, undefined> {
    yield* chartFrames(ref, known);
    yield write().actor(ref, ref.getSnapshot());
  }

  function tellAll(frame: string): void {
    for (const viewer of viewers.keys()) viewer.tell(frame);
  }

  function observe(event: InspectionEvent): void {
    const ref = event.actorRef as AnyActorRef;
    if (kindOf(ref) === 'slot') return;
    switch (event.type) {
      case '@xstate.actor':
        for (const [viewer, known] of viewers) for (const frame of chartFrames(ref, known)) viewer.tell(frame);
        // It has no snapshot yet.
        return tellAll(write().actor(ref, undefined));
      case '@xstate.event':
        return tellAll(write().event(ref, event.event, senderOf(event.sourceRef as AnyActorRef | undefined)));
      case '@xstate.snapshot':
        return tellAll(write().snapshot(ref, event.event, event.snapshot));
      case '@xstate.microstep': {
        const edges = edgesOf(ref, event._transitions);
        if (edges.length > 0) tellAll(own({ type: 'unwedge.transition', sessionId: ref.sessionId, edges }));
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
      const known = new Set<number>();
      const viewer: Viewer = createViewer({
        clock,
        maxWaiting,
        stallMs,
        replay: () => replay(known),
        onGone: () => leave(viewer),
      });
      viewers.set(viewer, known);
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
      for (const viewer of viewers.keys()) viewer.end();
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

function* chartFrames(ref: AnyActorRef, known: Set<number>): Generator<string, void, undefined> {
  const config = configOf(ref);
  if (config === undefined) return;
  const { id, svg } = chartFor(config);
  const frame = { type: 'unwedge.chart', sessionId: ref.sessionId, chart: id } as const;
  yield own(known.has(id) ? frame : { ...frame, svg });
  known.add(id);
}

/** Finds the sender: a slot speaks for the machine that it is of. */
function senderOf(source: AnyActorRef | undefined): string | undefined {
  if (source === undefined) return undefined;
  return kindOf(source) === 'slot' ? senderOf(source._parent as AnyActorRef | undefined) : source.sessionId;
}

function edgesOf(ref: AnyActorRef, taken: readonly AnyTransitionDefinition[]): readonly number[] {
  const config = configOf(ref);
  return config === undefined ? [] : taken.flatMap((transition) => chartFor(config).edgeOf(transition) ?? []);
}

/** The chart of a machine, drawn. */
interface DrawnChart {
  /** Tells it from those of other machines of this process. */
  readonly id: number;
  readonly svg: string;
  /** The place of a transition among those of the chart. */
  edgeOf(taken: AnyTransitionDefinition): number | undefined;
}

const drawn = new WeakMap<object, DrawnChart>();
let last = 0;

/** Draws a machine from its configuration, once. */
function chartFor(config: object): DrawnChart {
  let chart = drawn.get(config);
  if (chart === undefined) {
    chart = draw(config);
    drawn.set(config, chart);
  }
  return chart;
}

function draw(config: object): DrawnChart {
  // Drawing the machine does not need what it does; and what runs may be hidden behind other logic.
  const chart = chartOf(createMachine(config));
  const places = new Map<string, number>();
  chart.transitions.forEach((transition, place) => {
    if (!places.has(keyOf(transition))) places.set(keyOf(transition), place);
  });
  last += 1;
  return { id: last, svg: drawChart(chart), edgeOf: (taken) => places.get(keyOf(transitionOf(taken))) };
}

function keyOf({ from, to, on, guard }: ChartTransition): string {
  return JSON.stringify([from, to, on, guard]);
}
