import { onTestFinished } from 'vitest';
import { openReader } from '../../../reader/openReader.ts';
import type { Store } from '../../../src/store/store.ts';
import type { StoreReader } from '../../../reader/storeReader.ts';
import { newSchema } from '../startPostgres.ts';
import { startStore } from '../startStore.ts';

/** Stores of one engine in one place, and who reads them as another process does. */
export interface StartedReadable {
  /** Opens one more store. */
  open(runtimePid?: number): Promise<Store>;
  /** Waits for something of a store. */
  settled<T>(promise: Promise<T>): Promise<T>;
  read(): Promise<StoreReader>;
}

export interface ReadableEngine {
  readonly name: string;
  start(): Promise<StartedReadable>;
}

export const readableFile: ReadableEngine = {
  name: 'SQLite',
  async start() {
    const { path, clock } = await startStore();
    return {
      open: async (runtimePid) => (await startStore({ path, clock, runtimePid })).store,
      async settled(promise) {
        await clock.settle();
        return promise;
      },
      read: () => reading(path),
    };
  },
};

export const readableDatabase: ReadableEngine = {
  name: 'PostgreSQL',
  async start() {
    const { url, open } = await newSchema();
    await open();
    return {
      open: (runtimePid) => open(runtimePid === undefined ? {} : { runtimePid }),
      settled: (promise) => promise,
      read: () => reading(url),
    };
  },
};

async function reading(path: string): Promise<StoreReader> {
  const reader = await openReader(path);
  onTestFinished(() => reader.close());
  return reader;
}
