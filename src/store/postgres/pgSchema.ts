import type { PgConnections, Sql, Transaction } from './pgConnections.ts';
import { NewerPgSchemaError } from './pgTrouble.ts';

/**
 * What is kept, in the first version. Texts are `text`, JSON included: `jsonb` refuses what JSON may say (`\u0000`) and changes the rest. Times are
 * wall time in ms as their runtime told them; a `timestamptz` is the database's own. `xid` is the transaction that wrote a row last: by it others
 * find what has changed, and no row that is committed later than its neighbour is skipped. Nodes have room for their renewals in their page, which
 * then touch no index.
 */
const first = `
CREATE TABLE uw.schema_version (version integer NOT NULL);
INSERT INTO uw.schema_version VALUES (0);

CREATE TABLE uw.writer (id uuid PRIMARY KEY, batch bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

CREATE TABLE uw.node (
  id text PRIMARY KEY,
  expires_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  name text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  owned integer NOT NULL,
  waiting integer NOT NULL,
  renew_ms integer NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE uw.lease (
  key text PRIMARY KEY,
  owner text REFERENCES uw.node (id) ON DELETE SET NULL,
  lease_id uuid NOT NULL,
  token bigint NOT NULL
);
CREATE INDEX lease_by_owner ON uw.lease (owner);

CREATE TABLE uw.message (
  session text NOT NULL,
  number bigint NOT NULL,
  mail bigint,
  body text NOT NULL,
  key text,
  state text NOT NULL DEFAULT 'waiting',
  deliveries integer NOT NULL DEFAULT 0,
  stops integer NOT NULL DEFAULT 0,
  posted_at bigint NOT NULL,
  turn bigint,
  seq bigint,
  taken_at bigint,
  ended_at bigint,
  error text,
  PRIMARY KEY (session, number)
);
CREATE INDEX message_unprocessed ON uw.message (session, number) WHERE state IN ('waiting', 'taken');
CREATE INDEX message_dead ON uw.message (ended_at) WHERE state IN ('poison', 'expired', 'malformed');

CREATE TABLE uw.call (
  id text PRIMARY KEY,
  session text NOT NULL,
  turn bigint NOT NULL,
  integration text NOT NULL,
  tool text NOT NULL,
  input text NOT NULL,
  effect text,
  runtime text NOT NULL,
  started_at bigint NOT NULL,
  deadline_at bigint NOT NULL,
  seq bigint NOT NULL,
  state text NOT NULL DEFAULT 'pending',
  result text,
  result_seq bigint,
  settled_at bigint,
  late_result text,
  late_at bigint,
  rule text,
  idempotency_key text,
  reconciling_at bigint,
  verdict text,
  reconciled_at bigint
);
CREATE INDEX call_by_turn ON uw.call (session, turn);
CREATE INDEX call_pending ON uw.call (session) WHERE state = 'pending';

CREATE TABLE uw.event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  category text NOT NULL,
  type text NOT NULL,
  metadata text NOT NULL,
  integration text,
  pid integer,
  sessions text[] NOT NULL,
  failed boolean NOT NULL,
  trouble text,
  trouble_of text,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX event_by_time ON uw.event (at);
CREATE INDEX event_of_trouble ON uw.event (at) WHERE trouble IS NOT NULL;

CREATE TABLE uw.breaker (
  name text PRIMARY KEY,
  state text NOT NULL DEFAULT 'closed',
  opened_at bigint NOT NULL DEFAULT 0,
  open_until bigint NOT NULL DEFAULT 0,
  last_open_ms bigint NOT NULL DEFAULT 0,
  openings integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  cause text,
  paused_at bigint,
  paused_until bigint,
  lease_until bigint,
  lease_owner text,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX breaker_by_change ON uw.breaker (xid);

CREATE TABLE uw.rate (
  name text PRIMARY KEY,
  levels text NOT NULL DEFAULT '{}',
  at bigint NOT NULL DEFAULT 0,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX rate_by_change ON uw.rate (xid);

CREATE TABLE uw.statistic (
  minute bigint NOT NULL,
  integration text NOT NULL,
  tool text NOT NULL,
  figures text,
  PRIMARY KEY (minute, integration, tool)
);

CREATE TABLE uw.flight (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  integration text NOT NULL,
  run text NOT NULL,
  pid integer NOT NULL,
  at bigint NOT NULL,
  because text NOT NULL,
  record text NOT NULL
);
CREATE INDEX flight_by_integration ON uw.flight (integration, id);

CREATE TABLE uw.policy (
  name text NOT NULL,
  digest text NOT NULL,
  policy text NOT NULL,
  since bigint NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (name, digest)
);

CREATE TABLE uw.alert (
  id text PRIMARY KEY,
  integration text NOT NULL,
  because text NOT NULL,
  kind text NOT NULL,
  message text NOT NULL,
  failures integer NOT NULL,
  crashes integer NOT NULL,
  raised_at bigint NOT NULL,
  last_failure_at bigint NOT NULL,
  cleared_at bigint,
  cleared_by text
);
CREATE UNIQUE INDEX alert_open ON uw.alert (integration) WHERE cleared_at IS NULL;

CREATE TABLE uw.runtime (
  id text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  process_start text NOT NULL,
  started_at bigint NOT NULL,
  renewed_at bigint NOT NULL,
  name text NOT NULL,
  socket text,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE uw.child (
  host text NOT NULL,
  pid integer NOT NULL,
  process_start text NOT NULL,
  mark text NOT NULL,
  command text NOT NULL,
  started_at bigint NOT NULL,
  owner_pid integer NOT NULL,
  owner_start text NOT NULL,
  PRIMARY KEY (host, pid, process_start)
);

CREATE TABLE uw.moved (id uuid PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp());
`;

/**
 * Forward only; the version of a schema is the number of steps it has seen. The code of the version before goes on working on it, so that nodes are
 * updated one after the other: a step adds tables and columns with defaults, and takes away only what two versions before used last.
 */
const migrations: readonly string[] = [first];

/** The version that this code makes and reads. */
export const knownVersion = migrations.length;

/** By the tables of the catalogue: `to_regclass` may remember what was there before a lock was waited for. */
export const schemaHere: Sql = {
  name: 'schema_here',
  text: `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = (parse_ident('uw_schema'))[1]) AS created,
    EXISTS (SELECT 1 FROM pg_tables
      WHERE schemaname = (parse_ident('uw_schema'))[1] AND tablename = 'schema_version') AS known`,
};
export const schemaVersion: Sql = { name: 'schema_version', text: 'SELECT version FROM uw.schema_version' };
// Until the end of the transaction: whoever pools the connection keeps nothing of it.
const lock: Sql = { name: 'schema_lock', text: `SELECT pg_advisory_xact_lock(hashtextextended('uw_schema', 0))` };

/**
 * Makes the schema ready. An up-to-date one is only read. Of several nodes that start at once one migrates, in one transaction.
 * @throws {@link NewerPgSchemaError}, or what the server says.
 */
export async function preparePgSchema(connections: PgConnections): Promise<void> {
  if (isReady((await connections.transaction(look)).version)) return;
  await connections.transaction(async (transaction) => {
    await transaction.run(lock);
    const found = await look(transaction);
    if (isReady(found.version)) return;
    // Whoever was given a schema may have no right to create one.
    if (!found.created) await transaction.script('CREATE SCHEMA uw_schema');
    for (const step of migrations.slice(found.version)) await transaction.script(step);
    await transaction.script(`UPDATE uw.schema_version SET version = ${knownVersion}`);
  });
}

async function look(transaction: Transaction): Promise<{ readonly created: boolean; readonly version: number }> {
  const [row] = await transaction.run(schemaHere);
  const created = row?.['created'] === true;
  if (row?.['known'] !== true) return { created, version: 0 };
  const [found] = await transaction.run(schemaVersion);
  return { created, version: Number(found?.['version'] ?? 0) };
}

/** One version more than is known here may be there already. */
function isReady(found: number): boolean {
  if (found > knownVersion + 1) throw new NewerPgSchemaError(found, knownVersion);
  return found >= knownVersion;
}
