import { MemoryStore } from '../../../src/store/memory/memoryStore.ts';
import type { Store } from '../../../src/store/store.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { newSchema } from '../startPostgres.ts';
import { openDatabase, startStore } from '../startStore.ts';

/** Stores of two runtimes on one engine, on one clock. */
export interface StartedEngine {
  readonly one: Store;
  readonly two: Store;
  /** Lets what was written commit. */
  settle(): Promise<void>;
  /** Lets what was written commit, and each know what the other has changed of what they share: behind a network each has a copy of it. */
  share(): Promise<void>;
  /** Deliveries that are committed, of each message by its session. */
  deliveries(): Promise<readonly number[]>;
  /** Damages a kept message so that it cannot be read. */
  damage(session: string, message: number): Promise<void>;
  /** Lets the time pass after which a dead runtime owns nothing any more. */
  outlive(runtime: string): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** Whether a test can look at one commit before the next is made: nothing of the engine goes on while the test's code runs. */
  readonly isInProcess: boolean;
  /** Whether a test may have two stores on it. Memory is of one, and keeps nothing of sessions. */
  readonly isShared: boolean;
  /** Whether messages may go from one runtime to the session of another. */
  readonly hasMail: boolean;
  start(): Promise<StartedEngine>;
}

/** Waits for the engine as well. */
export async function settled<T>(engine: Pick<StartedEngine, 'settle'>, promise: Promise<T>): Promise<T> {
  await engine.settle();
  return promise;
}

export const sqlite: Engine = {
  name: 'SQLite',
  isInProcess: true,
  isShared: true,
  hasMail: false,
  async start() {
    const { store: one, clock, path } = await startStore();
    const { store: two } = await startStore({ path, clock });
    return {
      one,
      two,
      settle: () => clock.settle(),
      share: () => clock.settle(),
      outlive: nothing,
      deliveries: async () =>
        openDatabase(path)
          .prepare('SELECT deliveries FROM unwedge_messages ORDER BY session, number')
          .all()
          .map((row) => Number(row['deliveries'])),
      async damage(session, message) {
        openDatabase(path)
          .prepare('UPDATE unwedge_messages SET body = ? WHERE session = ? AND number = ?')
          .run('{"kind":', session, message);
      },
    };
  },
};

export const memory: Engine = {
  name: 'memory',
  isInProcess: true,
  isShared: false,
  hasMail: false,
  async start() {
    const clock = new SimulatedClock();
    const store = new MemoryStore(':memory:', false);
    const settle = () => clock.settle();
    return {
      one: store,
      two: store,
      settle,
      share: settle,
      outlive: nothing,
      deliveries: async () => [],
      damage: nothing,
    };
  },
};

export const postgres: Engine = {
  name: 'PostgreSQL',
  isInProcess: false,
  isShared: true,
  hasMail: true,
  async start() {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    const settle = async (): Promise<void> => {
      for (const store of [one, two, one]) await store.flush();
    };
    return {
      one,
      two,
      settle,
      async share() {
        await settle();
        await Promise.all([one.look(), two.look()]);
      },
      async outlive(runtime) {
        await settle();
        await ask('UPDATE uw.node SET expires_at = clock_timestamp() WHERE id = $1', [runtime]);
      },
      async deliveries() {
        const rows = await ask('SELECT deliveries FROM uw.message ORDER BY session, number');
        return rows.map((row) => Number(row['deliveries']));
      },
      async damage(session, message) {
        const damaged = `UPDATE uw.message SET body = '{"kind":' WHERE session = $1 AND number = $2`;
        await ask(damaged, [session, message]);
      },
    };
  },
};

const nothing = (): Promise<void> => Promise.resolve();
