import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Fact, FactOf, Told } from '../../src/policy/facts/facts.ts';
import type { Database } from '../../src/store/sqlite/database.ts';
import { findDriver } from '../../src/store/sqlite/driver.ts';
import type { SessionStore } from '../../src/sessions/sessionStore.ts';
import type { RuntimeIdentity } from '../../src/store/runtimes.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore, type StoreOptions } from '../../src/store/openStore.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { RecordedFacts } from '../support/facts.ts';

const search = await findDriver();

/** Whether this machine has a SQLite driver; tests that need one are skipped without. */
export const hasSqlite = search.ok;

/** A fresh directory, removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A connection of somebody else, closed after the test. */
export function openDatabase(path: string): Database {
  if (!search.ok) throw new Error(search.reason);
  const database = search.driver.open(path, { busyTimeoutMs: 0 });
  onTestFinished(() => database.close());
  return database;
}

export interface StartedStore {
  readonly store: Store;
  readonly clock: SimulatedClock;
  readonly facts: RecordedFacts;
  /** What was logged, `level: message`. */
  readonly lines: string[];
  readonly path: string;
}

type Options = Omit<Partial<StoreOptions>, 'clock'> & { readonly clock?: SimulatedClock };

/** A store on a simulated clock, in a fresh file unless told otherwise. */
export async function startStore(options: Options = {}): Promise<StartedStore> {
  const { started, opening } = openingStore(options);
  return { ...started, store: await opening };
}

/** The same, for stores that take their time to open. */
export function openingStore(options: Options = {}): {
  started: Omit<StartedStore, 'store'>;
  opening: Promise<Store>;
} {
  const clock = options.clock ?? new SimulatedClock();
  const facts = new RecordedFacts();
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const path = options.path ?? join(temporaryDirectory(), 'events.sqlite');
  const opening = openStore({ path, clock, facts, logger, env: {}, ...options });
  onTestFinished(async () => {
    const closed = (await opening).close();
    await clock.advance(5_000);
    await closed;
  });
  return { started: { clock, facts, lines, path }, opening };
}

/** The sessions of a store that keeps some. */
export function sessionsOf(store: Store, run: RuntimeIdentity): SessionStore {
  const sessions = store.sessions?.(run);
  if (sessions === undefined) throw new Error('It keeps no sessions');
  return sessions;
}

/** A final failure of a call, the n-th. */
export function failed(call: number, more: Partial<Told<FactOf<'call.failed'>>> = {}): Told<FactOf<'call.failed'>> {
  return {
    type: 'call.failed',
    at: Date.UTC(2026, 0, 1) + call,
    integration: 'kb',
    call: `call-${call}`,
    failure: {
      kind: 'timeout',
      message: 'no answer within 30 s',
      outcome: 'unknown',
      integration: 'kb',
      attempts: 4,
      retryable: true,
    },
    retryCount: 3,
    elapsedMs: 120_000,
    ...more,
  };
}

export function recordMany(store: Store, count: number): boolean[] {
  return Array.from({ length: count }, (_, index) => store.record(failed(index)));
}

/** The calls of the failures in the file, in the order they are stored. */
export function storedCalls(path: string, table = 'events'): unknown[] {
  return openDatabase(path)
    .prepare(`SELECT json_extract(metadata, '$.call') AS call FROM ${table} ORDER BY rowid`)
    .all()
    .map((row) => row['call']);
}

/**
 * A store as a kill leaves it whose log is deleted then: the last of three failures that it acknowledged was in that alone.
 * @param path - where it is put; its directory is there.
 */
export async function startLostLog(path = join(temporaryDirectory(), 'events.sqlite')): Promise<string> {
  const { store: past, path: live } = await startStore();
  recordMany(past, 2);
  await past.close();
  const { store } = await startStore({ path: live });
  store.record(failed(2));
  await store.flush();
  for (const suffix of ['', '.log-mark']) copyFileSync(live + suffix, path + suffix);
  return path;
}

/** A fact of any type, as told at the start of the simulated time. */
export function told<F extends Fact>(fact: F): Told<F> {
  return { ...fact, at: Date.UTC(2026, 0, 1) };
}
