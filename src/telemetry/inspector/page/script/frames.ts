/** What the page knows of the actors, and what each frame changes of it. */
export const framesScript = String.raw`
const maxEvents = 1000;
const maxEnded = 30;
const maxWaiting = 20000;
const byId = (id) => document.getElementById(id);
const actors = new Map();
const charts = new Map();
const chartIds = new Map();
const treeItems = new Map();
let selected, chosenByHand = false, shownChart, paused = false, dirty = false, waiting = [];

function take(frame) {
  switch (frame.type) {
    case 'unwedge.hello':
      for (const actor of actors.values()) actor.over = true;
      byId('runtime').textContent = frame.name + '  pid ' + frame.pid;
      return;
    case 'unwedge.chart':
      chartIds.set(frame.sessionId, frame.chart);
      if (frame.svg !== undefined) charts.set(frame.chart, frame.svg);
      return;
    case '@xstate.actor': return arrived(frame);
    case '@xstate.event': return sent(frame);
    case 'unwedge.transition': {
      const actor = actors.get(frame.sessionId);
      if (actor !== undefined) actor.edges = actor.fresh ? frame.edges : [...actor.edges, ...frame.edges];
      if (actor !== undefined) actor.fresh = false;
      return;
    }
    case '@xstate.snapshot': return moved(frame);
    case 'unwedge.gap': return note(frame.missed + ' frames missed: this page was too slow. What is there now is shown.');
    case 'unwedge.more': return note(frame.actors + ' more actors are not shown.');
    case 'unwedge.end':
      source.close();
      note('The gateway has stopped.');
      return link('ended', 'ended');
  }
}

function arrived({ sessionId, name, parentId, snapshot, createdAt }) {
  const known = actors.get(sessionId);
  if (known === undefined) {
    for (const [id, other] of actors) {
      if (!other.over || other.name !== name || other.parentId !== parentId) continue;
      actors.delete(id);
      if (selected === id) selected = sessionId;
    }
  }
  const actor = known ?? { sessionId, name, parentId, edges: [], last: undefined, since: Number(createdAt) };
  actors.set(sessionId, actor);
  Object.assign(actor, { snapshot, over: snapshot.status !== 'active' });
}

function sent({ sessionId, event, sourceId, createdAt }) {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  actor.fresh = true;
  actor.event = addEvent({ actor, event, from: stranger(actor, sourceId), at: Number(createdAt) });
}

/** Who sent it, where that says something: a machine hears of its own slots and of its supervisor all the time. */
function stranger(actor, sourceId) {
  return sourceId === actor.sessionId || sourceId === actor.parentId ? undefined : actors.get(sourceId);
}

function moved({ sessionId, snapshot, createdAt }) {
  const actor = actors.get(sessionId);
  if (actor === undefined) return;
  const before = stateText(actor.snapshot);
  const after = stateText(snapshot);
  Object.assign(actor, { snapshot, over: snapshot.status !== 'active' });
  if (before !== after) {
    actor.since = Number(createdAt);
    if (before !== '') actor.last = { before, after, on: actor.event?.type ?? '' };
    if (before !== '') actor.event?.became(before, after);
  }
  if (actor.over) forgetOldest();
}

function forgetOldest() {
  const over = [...actors.values()].filter((actor) => actor.over && actor.sessionId !== selected);
  for (const { sessionId } of over.slice(0, Math.max(0, over.length - maxEnded))) actors.delete(sessionId);
}
`;
