import { ReaderQueue } from '../../src/telemetry/face.ts';
import type { AgentEvent } from './agentTypes.ts';

/** Sink for a backend's events of a turn. Never throws, never waits. */
export type Sink = (event: AgentEvent) => void;

/** The events of one turn, as they come and as they are read. */
export type AgentStream = ReturnType<typeof createAgentStream>;

/** Events that may wait to be read; one more gives up the oldest. */
const maxWaiting = 1000;
/** Characters that may wait in all of them. A single text that is longer loses its beginning. */
const maxWaitingCharacters = 1_048_576;

/** A queue between a writer and a reader. Neighbouring pieces of unread text become one, so that a slow reader loses nothing but the pace. */
export function createAgentStream() {
  const queue = new ReaderQueue<AgentEvent>({ limit: maxWaiting, maxSize: maxWaitingCharacters, join, shorten });
  return {
    push: (event: AgentEvent) => queue.push(event, sizeOf(event)),
    /** Nothing comes any more; what waits can still be read. */
    end: () => queue.end(),
    get missed(): number {
      return queue.dropped;
    },
    /** Makes an iterator whose reader takes nothing along when it leaves: another may read on. */
    iterator(): AsyncIterableIterator<AgentEvent, undefined, void> {
      let left = false;
      return {
        next: () => (left ? Promise.resolve({ done: true, value: undefined }) : queue.next()),
        return() {
          left = true;
          queue.letGo();
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

function join(newest: AgentEvent, event: AgentEvent): AgentEvent | undefined {
  return isText(newest) && isText(event) && newest.type === event.type
    ? { type: event.type, text: newest.text + event.text }
    : undefined;
}

function shorten(event: AgentEvent): { readonly value: AgentEvent; readonly size: number } | undefined {
  if (!isText(event)) return undefined;
  const text = event.text.slice(-maxWaitingCharacters / 2);
  return { value: { type: event.type, text }, size: text.length };
}

/** Returns the weight of an event, in characters: that of its texts. */
function sizeOf(event: AgentEvent): number {
  // Pieces of a text become one.
  if (isText(event)) return event.text.length;
  let size = 0;
  for (const value of Object.values(event)) if (typeof value === 'string') size += value.length;
  return size;
}
