import type { HistoryEntry } from '../../src/sessions/history.ts';
import type { MessageHandler, SessionOptions } from '../../src/sessions/sessionOptions.ts';
import { HeldStore } from './heldStore.ts';
import { startSession } from './startSession.ts';

/** A session whose messages and calls are kept in a store that the test holds. */
export async function startKept(
  onMessage: MessageHandler,
  more: Partial<SessionOptions> = {},
  store = new HeldStore(),
) {
  const started = startSession({ onMessage, ...more }, undefined, { kept: true });
  await started.session.open(store);
  return { ...started, store };
}

/** Notes when a promise resolves, without waiting for it. */
export function noted<T>(promise: Promise<T>): { value: T | undefined } {
  const note: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    note.value = value;
  });
  return note;
}

export const earlier: HistoryEntry = {
  type: 'message',
  turn: 7,
  id: 'agent:main-m4',
  message: { kind: 'user' },
  at: 1,
};

/** A store in which a session has a past. */
export function withPast(): HeldStore {
  const store = new HeldStore();
  store.recovered = { history: [earlier], keys: [['k', 4]], lastMessage: 4, lastTurn: 7, lastSeq: 9 };
  return store;
}
