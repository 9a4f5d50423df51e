import { byId, element } from './elements.ts';
import { type Actor, type ListedEvent, view } from './view.ts';
import { plainName, timeText } from './words.ts';

const maxEvents = 1000;

interface Entry {
  readonly item: HTMLElement;
  /** The actor that it is of; a note is of none, and passes every filter. */
  readonly actor?: string;
  /** Text that the filter looks at. */
  text: string;
}

/** Event that came to an actor; `from` where the sender says something. */
export interface SentEvent {
  readonly actor: Actor;
  readonly event: { readonly type: string };
  readonly from: Actor | undefined;
  readonly at: number;
}

const entries: Entry[] = [];

export function addEvent({ actor, event, from, at }: SentEvent): ListedEvent {
  const sender = plainName(actor) + (from === undefined ? '' : ` from ${plainName(from)}`);
  const change = element('span', { className: 'change' });
  const summary = element(
    'summary',
    {},
    element('time', { textContent: timeText(at) }),
    element('span', { className: 'what', textContent: event.type, title: event.type }),
    element('span', { className: 'who', textContent: sender, title: actor.name }),
    change,
  );
  const details = element('details', {}, summary);
  details.addEventListener('toggle', () => {
    if (details.children.length === 1) details.append(element('pre', { textContent: JSON.stringify(event, null, 2) }));
  });
  const item = element('li', {}, details);
  const entry: Entry = { item, actor: actor.sessionId, text: `${actor.name} ${event.type}`.toLowerCase() };
  append(entry);
  return {
    type: event.type,
    became(before, after) {
      change.textContent = `${before} → ${after}`;
      entry.text += ` ${before} → ${after}`.toLowerCase();
      sift(entry);
    },
  };
}

/** A line among the events that is none. */
export function note(text: string): void {
  append({ item: element('li', { className: 'gap', textContent: text }), text: '' });
}

export function applyFilter(): void {
  for (const entry of entries) sift(entry);
}

export function listenToFilter(): void {
  byId('filter').addEventListener('input', applyFilter);
  byId('only').addEventListener('change', applyFilter);
}

function append(entry: Entry): void {
  entries.push(entry);
  sift(entry);
  byId('events').prepend(entry.item);
  if (entries.length > maxEvents) entries.shift()?.item.remove();
}

function sift({ item, actor, text }: Entry): void {
  const words = byId<HTMLInputElement>('filter').value.trim().toLowerCase();
  const isOther = byId<HTMLInputElement>('only').checked && actor !== view.selected;
  item.hidden = actor !== undefined && (!text.includes(words) || isOther);
}
