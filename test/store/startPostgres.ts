import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/policy/clock.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { openStore, type StoreOptions } from '../../src/store/openStore.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';
import { RecordedFacts } from '../support/facts.ts';
import { postgresServer, query } from '../support/postgresServer.ts';

/** A new schema, and stores on it. */
export interface TestSchema {
  readonly schema: string;
  readonly url: string;
  /** Opens one more store; it is closed after the test. */
  open(options?: OpenOptions): Promise<PostgresStore>;
  /** Asks the database as somebody else; `uw.` stands for the schema. */
  ask(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

export interface OpenOptions extends Pick<StoreOptions, 'logger' | 'retention' | 'runtimePid'> {
  readonly clock?: Clock;
  readonly facts?: RecordedFacts;
  /** Of a proxy, in the place of the server's. */
  readonly port?: number;
  readonly leaseMs?: number;
  /** Whether it has a connection of its own. @defaultValue true */
  readonly direct?: boolean;
}

let schemas = 0;
let database: Promise<string> | undefined;

/** Each test has a schema of its own; those of one process share a database. */
export async function newSchema(): Promise<TestSchema> {
  const server = await postgresServer();
  database ??= server.database();
  const base = await database;
  const schema = `test_${++schemas}`;
  return {
    schema,
    url: `${base}?schema=${schema}`,
    async open({
      clock = systemClock,
      facts = new RecordedFacts(),
      port = server.port,
      leaseMs = 60_000,
      direct = true,
      ...more
    } = {}) {
      const path = `${base.replace(`:${server.port}/`, `:${port}/`)}?schema=${schema}&leaseMs=${leaseMs}${direct ? '' : '&direct=false'}`;
      const store = (await openStore({
        path,
        required: true,
        clock,
        facts,
        secrets: new KnownSecrets({}),
        ...more,
      })) as PostgresStore;
      onTestFinished(() => store.close());
      return store;
    },
    ask: (text, values) =>
      query(base, text.replaceAll('uw_schema', schema).replaceAll(/\buw\./g, `${schema}.`), values),
  };
}
