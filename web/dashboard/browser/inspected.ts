import { type Signal, signal } from '@preact/signals';
import type { ActorFrame, ChartTransition, EventFrame, Frame, SnapshotFrame } from '../../../src/inspector/face.ts';
import { held, hold, link, paused } from './live.ts';

/** A snapshot as a frame has it. */
type ShownSnapshot = { readonly status?: string } & Partial<Record<'value' | 'context' | 'output' | 'error', unknown>>;

/** An actor as the page knows it. */
export interface Inspected {
  readonly sessionId: string;
  readonly name: string;
  readonly parentId: string | undefined;
  /** Name of its machine; undefined for one without states, such as a supervisor. */
  readonly chart: string | undefined;
  snapshot: ShownSnapshot;
  /** It has ended, or its gateway has been lost sight of. */
  over: boolean;
  /** Wall time of its last change of state, in ms. */
  since: number;
  /** Transitions it took for its last event. */
  taken: readonly ChartTransition[];
  /** An event came, and no transition of it yet. */
  isFresh: boolean;
  event: Happening | undefined;
  last: { readonly before: string; readonly after: string; readonly on: string } | undefined;
}

/** A line of the list: an event that came to an actor, or a note, which is of none and passes every filter. */
export interface Happening {
  readonly key: number;
  readonly text: string;
  readonly actor?: Inspected;
  /** The sender, where it says something. */
  readonly from?: Inspected | undefined;
  readonly event?: unknown;
  readonly at?: number;
  /** State before and after, once it is known. */
  readonly change: Signal<string>;
}

/** Actors that have ended and are still shown, and events in the list. */
const mostEnded = 30;
const mostEvents = 1000;
/** Frames that are kept while the page is paused; then the stream is let go. */
const mostHeld = 20_000;

export const actors = new Map<string, Inspected>();
/** Newest first, as they are drawn. */
export const happenings = signal<readonly Happening[]>([]);
let listed: readonly Happening[] = [];
export let runtime = '';
/** Grows with each frame of the screen in which something is to be drawn anew. */
export const drawn = signal(0);
let selected: string | undefined;
let isChosenByHand = false;
let isDirty = false;
let isLetGo = false;
let count = 0;

/** Listens to the frames of one gateway from now on. */
export function inspect(): void {
  paused.subscribe((isPaused) => {
    if (!isPaused && isLetGo) listen();
  });
  listen();
}

function listen(): void {
  isLetGo = false;
  const stream = new EventSource(`/events${location.search}`);
  stream.onopen = () => {
    link.value = 'live';
  };
  stream.onerror = () => {
    link.value = stream.readyState === EventSource.CLOSED ? 'refused' : 'lost';
  };
  stream.onmessage = ({ data }: MessageEvent<string>) => {
    hold(() => {
      const frame = JSON.parse(data) as Frame;
      if (frame.type === 'unwedge.end') {
        stream.close();
        link.value = 'ended';
      }
      take(frame);
      drawLater();
    });
    if (held.value < mostHeld) return;
    isLetGo = true;
    stream.close();
    const text = 'What came after this is missed: the page was paused for too long. What is there now is shown.';
    hold(() => void list({ text }));
  };
}

/** Draws in the next frame of the screen, however much comes until then. */
function drawLater(): void {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => {
    isDirty = false;
    happenings.value = listed;
    drawn.value += 1;
  });
}

export function choose(sessionId: string): void {
  selected = sessionId;
  isChosenByHand = true;
  drawn.value += 1;
}

/** Selection of the person; until there is one an integration, or else the first machine. */
export function chosen(): Inspected | undefined {
  const known = selected === undefined ? undefined : actors.get(selected);
  if (isChosenByHand || known?.chart !== undefined) return known;
  const machines = [...actors.values()].filter(({ chart, over }) => chart !== undefined && !over);
  const found = machines.find(({ name }) => name.startsWith('integration:')) ?? machines[0] ?? known;
  selected = found?.sessionId;
  return found;
}

/** The state of a machine in one line; of an actor without states, how it ended. */
export function stateText({ value, status = 'active' }: ShownSnapshot): string {
  if (value === undefined) return status === 'active' ? '' : status;
  return leavesOf(statesOf(value)).join(', ');
}

function take(frame: Frame): void {
  switch (frame.type) {
    case 'unwedge.hello':
      for (const actor of actors.values()) actor.over = true;
      runtime = `${frame.name}  pid ${frame.pid}`;
      return;
    case '@xstate.actor':
      return arrived(frame);
    case '@xstate.event':
      return sent(frame);
    case 'unwedge.transition':
      return took(frame.sessionId, frame.taken);
    case '@xstate.snapshot':
      return moved(frame);
    case 'unwedge.gap':
      return void list({ text: `${frame.missed} frames missed: this page was too slow. What is there now is shown.` });
    case 'unwedge.more':
      return void list({ text: `${frame.actors} more actors are not shown.` });
    case 'unwedge.end':
      return void list({ text: 'The gateway has stopped.' });
  }
}

function arrived({ sessionId, name, parentId, definition, snapshot: given, createdAt }: ActorFrame): void {
  const snapshot = (given ?? {}) as ShownSnapshot;
  const over = snapshot.status !== 'active';
  const known = actors.get(sessionId);
  if (known !== undefined) return void Object.assign(known, { snapshot, over });
  for (const [id, other] of actors) {
    if (!other.over || other.name !== name || other.parentId !== parentId) continue;
    actors.delete(id);
    if (selected === id) selected = sessionId;
  }
  const { id, states } = JSON.parse(definition) as { readonly id?: string; readonly states?: object };
  actors.set(sessionId, {
    ...{ sessionId, name, parentId, snapshot, over, since: Number(createdAt) },
    ...{ chart: states === undefined ? undefined : id, taken: [], isFresh: false, event: undefined, last: undefined },
  });
}

function sent({ sessionId, event, sourceId, createdAt }: EventFrame): void {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  // A machine hears of its own slots and of its supervisor all the time: that they sent something says nothing.
  const isOwn = sourceId === undefined || sourceId === sessionId || sourceId === actor.parentId;
  const from = isOwn ? undefined : actors.get(sourceId);
  actor.isFresh = true;
  actor.event = list({ text: (event as { readonly type: string }).type, actor, event, from, at: Number(createdAt) });
}

/** @param taken - missing where a gateway of another version tells of them in another way. */
function took(sessionId: string, taken: readonly ChartTransition[] = []): void {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  actor.taken = actor.isFresh ? taken : [...actor.taken, ...taken];
  actor.isFresh = false;
}

function moved({ sessionId, snapshot: given, createdAt }: SnapshotFrame): void {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  const snapshot = (given ?? {}) as ShownSnapshot;
  const before = stateText(actor.snapshot);
  const after = stateText(snapshot);
  actor.snapshot = snapshot;
  actor.over = snapshot.status !== 'active';
  if (before !== after) {
    actor.since = Number(createdAt);
    if (before !== '') actor.last = { before, after, on: actor.event?.text ?? '' };
    if (before !== '' && actor.event !== undefined) actor.event.change.value = `${before} → ${after}`;
  }
  if (!actor.over) return;
  const over = [...actors.values()].filter((each) => each.over && each.sessionId !== selected);
  for (const { sessionId: id } of over.slice(0, Math.max(0, over.length - mostEnded))) actors.delete(id);
}

function list(given: Omit<Happening, 'key' | 'change'>): Happening {
  const happening = { ...given, key: (count += 1), change: signal('') };
  listed = [happening, ...listed.slice(0, mostEvents - 1)];
  return happening;
}

/** The states that the value of a machine stands for, outer ones first: `{"a":"b"}` is `a` and `a.b`. */
export function statesOf(value: unknown, above = ''): readonly string[] {
  if (typeof value === 'string') return [`${above}${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${above}${key}`, ...statesOf(inner, `${above}${key}.`)]);
}

/** The states that have none of the others in them. */
export function leavesOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => !ids.some((other) => other.startsWith(`${id}.`)));
}
