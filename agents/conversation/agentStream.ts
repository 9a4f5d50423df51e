import type { AgentEvent } from './agentTypes.ts';

/** Sink for a backend's events of a turn. Never throws, never waits. */
export type Sink = (event: AgentEvent) => void;

/** The events of one turn, as they come and as they are read. */
export type AgentStream = ReturnType<typeof createAgentStream>;

/** Events that may wait to be read; one more gives up the oldest. */
const maxWaiting = 1000;
/** Characters that may wait in all of them. A single text that is longer loses its beginning. */
const maxWaitingCharacters = 1_048_576;

/**
 * A queue between a writer and a reader, bounded by events and by characters. Neighbouring pieces of unread text become one, so that a slow
 * reader loses nothing but the pace.
 */
export function createAgentStream() {
  const waiting: AgentEvent[] = [];
  const readers: ((result: IteratorResult<AgentEvent, undefined>) => void)[] = [];
  let characters = 0;
  let missed = 0;
  let ended = false;

  const drop = (): void => {
    const oldest = waiting.shift();
    if (oldest === undefined) return;
    characters -= sizeOf(oldest);
    missed++;
  };

  const push = (event: AgentEvent): void => {
    if (ended) return;
    const reader = readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: event });
      return;
    }
    const last = waiting.at(-1);
    if (last !== undefined && isText(event) && last.type === event.type) {
      waiting[waiting.length - 1] = { type: event.type, text: last.text + event.text };
      characters += event.text.length;
    } else {
      waiting.push(event);
      characters += sizeOf(event);
    }
    while (waiting.length > maxWaiting || (characters > maxWaitingCharacters && waiting.length > 1)) drop();
    const [only] = waiting;
    if (characters <= maxWaitingCharacters || only === undefined || !isText(only)) return;
    const rest: AgentEvent = { type: only.type, text: only.text.slice(-maxWaitingCharacters / 2) };
    waiting[0] = rest;
    characters = sizeOf(rest);
    missed++;
  };

  return {
    push,
    /** Nothing comes any more; what waits can still be read. */
    end(): void {
      ended = true;
      for (const reader of readers.splice(0)) reader({ done: true, value: undefined });
    },
    get missed(): number {
      return missed;
    },
    iterator(): AsyncIterableIterator<AgentEvent, undefined, void> {
      let left = false;
      return {
        next() {
          const value = left ? undefined : waiting.shift();
          if (value !== undefined) {
            characters -= sizeOf(value);
            return Promise.resolve({ done: false, value });
          }
          if (ended || left) return Promise.resolve({ done: true, value: undefined });
          return new Promise((resolve) => {
            readers.push(resolve);
          });
        },
        return() {
          left = true;
          for (const reader of readers.splice(0)) reader({ done: true, value: undefined });
          return Promise.resolve({ done: true, value: undefined });
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}

type TextEvent = Extract<AgentEvent, { type: 'text' | 'reasoning' }>;

const isText = (event: AgentEvent): event is TextEvent => event.type === 'text' || event.type === 'reasoning';

/** Returns the weight of an event, in characters: that of its texts. */
function sizeOf(event: AgentEvent): number {
  let size = 0;
  for (const value of Object.values(event)) if (typeof value === 'string') size += value.length;
  return size;
}
