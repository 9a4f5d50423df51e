import { written } from '../dialect.ts';

const messageStates = `'waiting', 'taken', 'done', 'failed', 'dropped', 'poison', 'expired', 'malformed'`;

/**
 * The tables that a file and a server have alike, and their indexes. Of the types a file has two: whole numbers and texts. Texts are `text`, JSON
 * included: `jsonb` refuses what JSON may say (`\u0000`) and changes the rest. Times are wall time in ms as their runtime told them; a `timestamptz` is the
 * server's own. `xid` is the transaction that wrote a row last: by it other nodes find what has changed, and no row that is committed later than its
 * neighbour is skipped.
 */
const tables = `
-- Messages of sessions: waiting and taken ones are delivered again when their runtime dies. Deliveries that an orderly stop ended do not speak against one.
CREATE TABLE uw.message (
  session text NOT NULL,
  number bigint NOT NULL,
  {mail bigint,|}
  body text NOT NULL,
  key text,
  state text NOT NULL DEFAULT 'waiting'{| CHECK (state IN (${messageStates}))},
  deliveries integer NOT NULL DEFAULT 0,
  stops integer NOT NULL DEFAULT 0,
  posted_at bigint NOT NULL,
  turn bigint,
  seq bigint,
  taken_at bigint,
  ended_at bigint,
  error text,
  PRIMARY KEY (session, number)
){|, WITHOUT ROWID};
CREATE INDEX {message_unprocessed|unwedge_messages_unprocessed} ON uw.message (session, number) WHERE state IN ('waiting', 'taken');

-- Tool calls of sessions, written before they are dispatched, settled once; what comes later is kept apart.
CREATE TABLE uw.call (
  id text PRIMARY KEY,
  session text NOT NULL,
  turn bigint NOT NULL,
  integration text NOT NULL,
  tool text NOT NULL,
  input text{ NOT NULL|},
  effect text,
  runtime text NOT NULL,
  started_at bigint NOT NULL,
  deadline_at bigint NOT NULL,
  seq bigint NOT NULL,
  state text NOT NULL DEFAULT 'pending'{| CHECK (state IN ('pending', 'settled'))},
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
){|, WITHOUT ROWID};
CREATE INDEX {call_by_turn|unwedge_calls_by_turn} ON uw.call (session, turn);
CREATE INDEX {call_pending|unwedge_calls_pending_by_session} ON uw.call (session) WHERE state = 'pending';

CREATE TABLE uw.breaker (
  name text PRIMARY KEY,
  state text NOT NULL DEFAULT 'closed'{| CHECK (state IN ('closed', 'open'))},
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
  lease_owner text{,
  permit_node text,
  permit_generation bigint,
  permit_until timestamptz,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()|}
);

-- Buckets of rate limits, each with the levels of what it counts as JSON: they are read and written as one.
CREATE TABLE uw.rate (
  name text PRIMARY KEY,
  levels text NOT NULL DEFAULT '{}',
  at bigint NOT NULL DEFAULT 0{,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id()|}
);

-- Ends of calls, by minute; a tool is empty for all of an integration. All minutes together stand under a minute that never was.
CREATE TABLE uw.statistic (
  minute bigint NOT NULL,
  integration text NOT NULL,
  tool text NOT NULL,
  figures text,
  PRIMARY KEY (minute, integration, tool)
){|, WITHOUT ROWID};

-- The last attempts of integrations, written when something went wrong, as JSON: they are read as one.
CREATE TABLE uw.flight (
  id {bigint GENERATED ALWAYS AS IDENTITY|integer} PRIMARY KEY,
  integration text NOT NULL,
  run text NOT NULL,
  pid integer NOT NULL,
  at bigint NOT NULL,
  because text NOT NULL,
  record text NOT NULL
);
CREATE INDEX {flight_by_integration|unwedge_flights_by_integration} ON uw.flight (integration, id);

-- Settings in force for an integration or a session, once for each content. An index of a server holds no text of any length.
CREATE TABLE uw.policy (
  name text NOT NULL,
  {digest text NOT NULL,|}
  policy text NOT NULL,
  since bigint NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (name, {digest|policy})
){|, WITHOUT ROWID};

-- Episodes of failures that somebody was told of. Of each integration one at most is open, whichever of several runtimes raised it.
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
CREATE UNIQUE INDEX {alert_open|unwedge_alerts_open} ON uw.alert (integration) WHERE cleared_at IS NULL;

-- Runs of a runtime, live or not yet found dead: whose children are whose, and where a live one is reached. A file has the calls of no session, as JSON.
CREATE TABLE uw.runtime (
  id text PRIMARY KEY,
  {host text NOT NULL,|}
  pid integer NOT NULL,
  process_start text NOT NULL,
  started_at bigint NOT NULL,
  renewed_at bigint NOT NULL,
  name text NOT NULL,
  socket text,
  {seen_at timestamptz NOT NULL DEFAULT clock_timestamp()|calls text}
);

-- Children that live; a row that outlives its owner names an orphan. A pid alone may be reused: the start time tells.
CREATE TABLE uw.child (
  {host text NOT NULL,|}
  pid integer NOT NULL,
  process_start text NOT NULL,
  mark text NOT NULL,
  command text NOT NULL,
  started_at bigint NOT NULL,
  owner_pid integer NOT NULL,
  owner_start text NOT NULL,
  PRIMARY KEY ({host, |}pid, process_start)
);`;

/** Tables of a file, by their names on a server. */
const fileNames: Readonly<Record<string, string>> = {
  alert: 'unwedge_alerts',
  breaker: 'unwedge_breakers',
  call: 'unwedge_calls',
  child: 'unwedge_children',
  flight: 'unwedge_flights',
  lease: 'unwedge_sessions',
  message: 'unwedge_messages',
  policy: 'unwedge_policies',
  rate: 'unwedge_rates',
  runtime: 'unwedge_runtimes',
  statistic: 'unwedge_statistics',
};

/** A text for a file, with the names of tables that are there. @param found - told of each. */
export function withFileNames(text: string, found?: (table: string) => void): string {
  return text.replaceAll(/\buw\.(\w+)/g, (_, name: string) => {
    const table = fileNames[name] ?? name;
    found?.(table);
    return table;
  });
}

const withoutComments = tables.replaceAll(/^--.*\n/gm, '');

/** The statements that make them on a server. */
export const tablesOnServer = written(withoutComments, 'server', () => '');

const onlyInFile = written(withoutComments, 'file', () => '');

/** Columns that a table has in a file: `name type` of each, parted by commas. */
export function columnsInFile(table: string): string {
  const [, body = ''] = new RegExp(`CREATE TABLE uw\\.${table} \\((.*?)\\n\\)`, 's').exec(onlyInFile) ?? [];
  return [...body.matchAll(/^ {2}([a-z_]+ [a-z]+)/gm)].map(([, column]) => column).join(', ');
}

/** The statements that make those in a file that are not there. */
export const tablesInFile = withFileNames(onlyInFile)
  .replaceAll(/\b(bigint|integer|text)\b/g, (type) => (type === 'text' ? 'TEXT' : 'INTEGER'))
  .replaceAll(/^\)/gm, ') STRICT')
  .replaceAll(/^(CREATE (?:UNIQUE )?(?:TABLE|INDEX))/gm, '$1 IF NOT EXISTS');
