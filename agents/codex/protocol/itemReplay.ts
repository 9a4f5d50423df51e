import { type CodexItem, isSpoken } from './items.ts';

/** News of an item. */
export type ItemEvent =
  | { readonly type: 'started' | 'completed'; readonly item: CodexItem }
  | { readonly type: 'delta'; readonly item: string; readonly text: string };

/** Something the model said, as it was passed on. */
interface Told {
  readonly id: string;
  readonly type: string;
  text: string;
  done: boolean;
}

/** An item that may repeat one that was told. */
interface Repetition {
  readonly start: CodexItem;
  readonly of: Told;
  text: string;
  /** It says more than was said before: from here on it goes on with that. */
  ahead: boolean;
}

/** Most of what is kept to compare with, in characters; beyond it repetitions are told. */
const longestKept = 4 * 1024 * 1024;

/**
 * Takes out what a retried stream says again: Codex tells the items of each of its attempts, under ids of their own. What differs
 * from what was said before is told.
 * The items of one turn. Memory is bounded by 4 MB of text.
 */
export function createItemReplay() {
  /** Words that were said since the last request to the model that went well, as far as can be told. */
  let told: Told[] = [];
  /** The next of them that may be said again. */
  let cursor = 0;
  let kept = 0;
  const live = new Map<string, Told>();
  const repeated = new Map<string, Repetition>();

  const keep = (entry: Told, text: string): void => {
    kept += text.length;
    if (kept <= longestKept) entry.text += text;
    // An entry that is not kept whole cannot be compared with.
    else forget();
  };

  const forget = (): void => {
    told = [];
    cursor = 0;
    kept = 0;
    live.clear();
  };

  const begin = (item: CodexItem): readonly ItemEvent[] => {
    const before = told[cursor];
    if (before !== undefined && before.type === item.type) {
      cursor++;
      repeated.set(item.id, { start: item, of: before, text: '', ahead: false });
      return [];
    }
    tellNew(item);
    return [{ type: 'started', item }];
  };

  const tellNew = (item: CodexItem): Told => {
    // Words that followed in the attempt before are not said again.
    told.splice(cursor);
    const entry: Told = { id: item.id, type: item.type, text: '', done: false };
    told.push(entry);
    cursor = told.length;
    live.set(item.id, entry);
    return entry;
  };

  /** It is not what was said before after all: told from its beginning. */
  const diverge = (id: string, repetition: Repetition): readonly ItemEvent[] => {
    repeated.delete(id);
    cursor = Math.max(0, told.indexOf(repetition.of));
    keep(tellNew(repetition.start), repetition.text);
    const start: ItemEvent = { type: 'started', item: repetition.start };
    return repetition.text === '' ? [start] : [start, { type: 'delta', item: id, text: repetition.text }];
  };

  const delta = (id: string, text: string): readonly ItemEvent[] => {
    const repetition = repeated.get(id);
    if (repetition === undefined) {
      const entry = live.get(id);
      if (entry !== undefined) keep(entry, text);
      return [{ type: 'delta', item: id, text }];
    }
    const { of } = repetition;
    const before = repetition.text.length;
    repetition.text += text;
    if (repetition.ahead) {
      keep(of, text);
      return [{ type: 'delta', item: of.id, text }];
    }
    if (of.text.startsWith(text, before)) return [];
    const rest = of.text.slice(before);
    if (of.done || !text.startsWith(rest)) return diverge(id, repetition);
    // The first attempt was cut off here: the repetition goes on with it.
    const more = text.slice(rest.length);
    repetition.ahead = true;
    keep(of, more);
    return [{ type: 'delta', item: of.id, text: more }];
  };

  const complete = (item: CodexItem): readonly ItemEvent[] => {
    const repetition = repeated.get(item.id);
    if (repetition === undefined) {
      const entry = live.get(item.id);
      if (entry !== undefined) finish(entry, item.text ?? entry.text);
      return [{ type: 'completed', item }];
    }
    const { of } = repetition;
    const text = item.text ?? repetition.text;
    if (of.done && of.text === text) {
      repeated.delete(item.id);
      return [];
    }
    if (!of.done && text.startsWith(of.text)) {
      repeated.delete(item.id);
      finish(of, text);
      return [{ type: 'completed', item: { ...item, id: of.id } }];
    }
    const events = diverge(item.id, repetition);
    const entry = live.get(item.id);
    if (entry !== undefined) finish(entry, text);
    return [...events, { type: 'completed', item }];
  };

  const finish = (entry: Told, text: string): void => {
    kept += text.length - entry.text.length;
    entry.text = text;
    entry.done = true;
    live.delete(entry.id);
    if (kept > longestKept) forget();
  };

  return {
    /** Codex asks the model again: what it says next may be what it said already. */
    retrying(): void {
      cursor = 0;
      repeated.clear();
      live.clear();
    },
    /** A request to the model went well: what it said is not said again. */
    answered: forget,
    /** The events to pass on for one that came. */
    pass(event: ItemEvent): readonly ItemEvent[] {
      if (event.type === 'delta') return delta(event.item, event.text);
      if (isSpoken(event.item)) return event.type === 'started' ? begin(event.item) : complete(event.item);
      // A step that acts is in the history: what was said before it is not said again.
      if (event.type === 'completed') forget();
      return [event];
    },
  };
}
