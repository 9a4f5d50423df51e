import type { ActorFrame, EventFrame, Frame, SnapshotFrame } from '../frames.ts';
import { byId } from './elements.ts';
import { addEvent, note } from './eventList.ts';
import { type Actor, actors, chartIds, charts, type ShownSnapshot, view } from './view.ts';
import { stateText } from './words.ts';

/** Actors that have ended and are still shown. */
const maxEnded = 30;

/**
 * Changes what the page knows by what a frame says.
 * @param ended - the gateway has stopped.
 */
export function takeFrame(frame: Frame, ended: () => void): void {
  switch (frame.type) {
    case 'unwedge.hello':
      for (const actor of actors.values()) actor.over = true;
      byId('runtime').textContent = `${frame.name}  pid ${frame.pid}`;
      break;
    case 'unwedge.chart':
      chartIds.set(frame.sessionId, frame.chart);
      if (frame.svg !== undefined) charts.set(frame.chart, frame.svg);
      break;
    case '@xstate.actor':
      arrived(frame);
      break;
    case '@xstate.event':
      sent(frame);
      break;
    case 'unwedge.transition':
      took(frame.sessionId, frame.edges);
      break;
    case '@xstate.snapshot':
      moved(frame);
      break;
    case 'unwedge.gap':
      note(`${frame.missed} frames missed: this page was too slow. What is there now is shown.`);
      break;
    case 'unwedge.more':
      note(`${frame.actors} more actors are not shown.`);
      break;
    case 'unwedge.end':
      note('The gateway has stopped.');
      ended();
      break;
  }
}

function arrived({ sessionId, name, parentId, snapshot: given, createdAt }: ActorFrame): void {
  const snapshot = (given ?? {}) as ShownSnapshot;
  const known = actors.get(sessionId);
  if (known === undefined) {
    for (const [id, other] of actors) {
      if (!other.over || other.name !== name || other.parentId !== parentId) continue;
      actors.delete(id);
      if (view.selected === id) view.selected = sessionId;
    }
  }
  const over = snapshot.status !== 'active';
  if (known !== undefined) Object.assign(known, { snapshot, over });
  else {
    const fresh: Omit<Actor, 'sessionId' | 'name' | 'parentId' | 'snapshot' | 'over'> = {
      edges: [],
      last: undefined,
      event: undefined,
      fresh: false,
      since: Number(createdAt),
    };
    actors.set(sessionId, { sessionId, name, parentId, snapshot, over, ...fresh });
  }
}

function sent({ sessionId, event, sourceId, createdAt }: EventFrame): void {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  actor.fresh = true;
  const given = event as { readonly type: string };
  actor.event = addEvent({ actor, event: given, from: strangerTo(actor, sourceId), at: Number(createdAt) });
}

/** The sender, where that says something: a machine hears of its own slots and of its supervisor all the time. */
function strangerTo({ sessionId, parentId }: Actor, sourceId: string | undefined): Actor | undefined {
  const isOwn = sourceId === undefined || sourceId === sessionId || sourceId === parentId;
  return isOwn ? undefined : actors.get(sourceId);
}

function took(sessionId: string, edges: readonly number[]): void {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  actor.edges = actor.fresh ? edges : [...actor.edges, ...edges];
  actor.fresh = false;
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
    if (before !== '') actor.last = { before, after, on: actor.event?.type ?? '' };
    if (before !== '') actor.event?.became(before, after);
  }
  if (actor.over) forgetOldest();
}

function forgetOldest(): void {
  const over = [...actors.values()].filter((actor) => actor.over && actor.sessionId !== view.selected);
  for (const { sessionId } of over.slice(0, Math.max(0, over.length - maxEnded))) actors.delete(sessionId);
}
