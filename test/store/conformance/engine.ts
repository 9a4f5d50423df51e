import { onTestFinished } from 'vitest';
import { KnownSecrets } from '../../../src/store/knownSecrets.ts';
import { MemoryDatabase, type MemorySession } from '../../../src/store/memory/memoryDatabase.ts';
import { MemoryStore } from '../../../src/store/memory/memoryStore.ts';
import { createRedactor } from '../../../src/store/redact.ts';
import type { Store } from '../../../src/store/store.ts';
import { SimulatedClock } from '../../../src/testing/simulatedClock.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { openDatabase, startStore } from '../startStore.ts';

/** Stores of two runtimes on one engine, on one clock. */
export interface StartedEngine {
  readonly one: Store;
  readonly two: Store;
  /** Lets what was written commit. */
  settle(): Promise<void>;
  /** Deliveries that are committed, of each message by its session. */
  deliveries(): readonly number[];
  /** Damages a kept message so that it cannot be read. */
  damage(session: string, message: number): void;
}

export interface Engine {
  readonly name: string;
  start(): Promise<StartedEngine>;
}

/** Waits for the engine as well. */
export async function settled<T>(engine: StartedEngine, promise: Promise<T>): Promise<T> {
  await engine.settle();
  return promise;
}

export const sqlite: Engine = {
  name: 'SQLite',
  async start() {
    const { store: one, clock, path } = await startStore();
    const { store: two } = await startStore({ path, clock });
    return {
      one,
      two,
      settle: () => clock.settle(),
      deliveries: () =>
        openDatabase(path)
          .prepare('SELECT deliveries FROM unwedge_messages ORDER BY session, number')
          .all()
          .map((row) => Number(row['deliveries'])),
      damage(session, message) {
        openDatabase(path)
          .prepare('UPDATE unwedge_messages SET body = ? WHERE session = ? AND number = ?')
          .run('{"kind":', session, message);
      },
    };
  },
};

export const memory: Engine = {
  name: 'memory',
  async start() {
    const clock = new SimulatedClock();
    const database = new MemoryDatabase();
    const redact = createRedactor(new KnownSecrets({}));
    const parts = { path: ':memory:', redact, clock, facts: new RecordedFacts(), logger: undefined, database };
    const [one, two] = [new MemoryStore(parts), new MemoryStore(parts)];
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close()]);
    });
    const messages = ({ messages: rows }: MemorySession) => [...rows.values()].sort((a, b) => a.number - b.number);
    return {
      one,
      two,
      settle: () => clock.settle(),
      deliveries: () =>
        [...database.sessions]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .flatMap(([, session]) => messages(session).map(({ deliveries }) => deliveries)),
      damage(session, message) {
        Object.assign(database.sessions.get(session)?.messages.get(message) ?? {}, { body: '{"kind":' });
      },
    };
  },
};
