/**
 * A table that a file and a server have alike. Of the types a file has two: whole numbers and texts. Texts are `text`, JSON included: `jsonb` refuses what
 * JSON may say (`\u0000`) and changes the rest. Times are wall time in ms as their runtime told them; a `timestamptz` is the server's own. `xid` is the
 * transaction that wrote a row last: by it other nodes find what has changed, and no row that is committed later than its neighbour is skipped.
 */
export interface Table {
  /** Its name in a file. */
  readonly file: string;
  /** Versions that brought it: the next ones of a file and of a server, for a new table. It is made where an earlier version was. @defaultValue the first */
  readonly since?: { readonly file: number; readonly server: number };
  /** `name type …,` of each, on a line of its own. */
  readonly columns: string;
  /** Columns that name a row. */
  readonly key: string;
  /** True where a file keeps the rows in the order of the key. @defaultValue false */
  readonly byKey?: boolean;
  /** Statements that make its indexes. @defaultValue none */
  readonly indexes?: string;
  /**
   * `what` that `unwedge migrate` calls its rows; `shared` where a row of the same key that the database has stays as it is, else it ends the move. Or why
   * they are `left` behind.
   */
  readonly move: { readonly what: string; readonly shared?: boolean } | { readonly left: string };
  /** Condition of rows that are deleted as older than `:before`; `history` goes within a day for no size. Or why they are `kept`. */
  readonly prune: { readonly old: string; readonly history?: boolean } | { readonly kept: string };
  /** Condition of rows `t` `of` a `:session`, whose `"session":"…"` in JSON is `:mark` and whose budget `:budget`: `unwedge forget` erases them. Or why there are `none`. */
  readonly session: { readonly of: string } | { readonly none: string };
}

/** Index of calls that are made once for their message. */
export const madeOnceIndex =
  'CREATE INDEX {IF NOT EXISTS call_once|unwedge_calls_once} ON uw.call (session, message) WHERE message IS NOT NULL;';

const messageStates = `'waiting', 'taken', 'done', 'failed', 'dropped', 'poison', 'expired', 'malformed'`;

/** The tables, in the order in which they are moved and pruned. */
export const tables = {
  // Messages of sessions: waiting and taken ones are delivered again when their runtime dies. Deliveries that an orderly stop ended do not speak against one.
  message: {
    file: 'unwedge_messages',
    columns: `
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
  outcome text,`,
    key: 'session, number',
    byKey: true,
    indexes: `CREATE INDEX {message_unprocessed|unwedge_messages_unprocessed} ON uw.message (session, number) WHERE state IN ('waiting', 'taken');`,
    move: { what: 'messages' },
    prune: { kept: 'goes with its session, by the engine' },
    session: { of: 't.session = :session' },
  },

  // Tool calls of sessions, written before they are dispatched, settled once; what comes later is kept apart. The message has those that are made once for it.
  call: {
    file: 'unwedge_calls',
    columns: `
  id text,
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
  reconciled_at bigint,
  message bigint,`,
    key: 'id',
    byKey: true,
    indexes: `CREATE INDEX {call_by_turn|unwedge_calls_by_turn} ON uw.call (session, turn);
CREATE INDEX {call_pending|unwedge_calls_pending_by_session} ON uw.call (session) WHERE state = 'pending';
${madeOnceIndex}`,
    move: { what: 'tool calls' },
    prune: { kept: 'goes with its session, by the engine' },
    session: { of: 't.session = :session' },
  },

  breaker: {
    file: 'unwedge_breakers',
    columns: `
  name text,
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
  lease_owner text,
  {permit_node text,
  permit_generation bigint,
  permit_until timestamptz,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),|}`,
    key: 'name',
    move: { what: 'circuits', shared: true },
    prune: { kept: 'one for each integration' },
    session: { none: 'is of an integration; its cause names it no more' },
  },

  // Buckets of rate limits, each with the levels of what it counts as JSON: they are read and written as one.
  rate: {
    file: 'unwedge_rates',
    columns: `
  name text,
  levels text NOT NULL DEFAULT '{}',
  at bigint NOT NULL DEFAULT 0,
  {xid xid8 NOT NULL DEFAULT pg_current_xact_id(),|}`,
    key: 'name',
    move: { what: 'rate limits', shared: true },
    prune: { kept: 'forgotten by who writes buckets' },
    session: { of: 't.name = :budget' },
  },

  // Episodes of failures that somebody was told of. Of each integration one at most is open, whichever of several runtimes raised it.
  alert: {
    file: 'unwedge_alerts',
    columns: `
  id text,
  integration text NOT NULL,
  because text NOT NULL,
  kind text NOT NULL,
  message text NOT NULL,
  failures integer NOT NULL,
  crashes integer NOT NULL,
  raised_at bigint NOT NULL,
  last_failure_at bigint NOT NULL,
  cleared_at bigint,
  cleared_by text,`,
    key: 'id',
    indexes: `CREATE UNIQUE INDEX {alert_open|unwedge_alerts_open} ON uw.alert (integration) WHERE cleared_at IS NULL;`,
    move: { what: 'alerts', shared: true },
    prune: { old: 'cleared_at < :before', history: true },
    session: { of: `t.integration = 'session:' || :session` },
  },

  // Children that live; a row that outlives its owner names an orphan. A pid alone may be reused: the start time tells.
  child: {
    file: 'unwedge_children',
    columns: `
  {host text NOT NULL,|}
  pid integer NOT NULL,
  process_start text NOT NULL,
  mark text NOT NULL,
  command text NOT NULL,
  started_at bigint NOT NULL,
  owner_pid integer NOT NULL,
  owner_start text NOT NULL,`,
    key: '{host, |}pid, process_start',
    move: { what: 'child processes' },
    prune: { kept: 'goes when its process is seen to be gone' },
    session: { none: 'goes with its process' },
  },

  // Ends of calls, by minute; a tool is empty for all of an integration. All minutes together stand under a minute that never was.
  statistic: {
    file: 'unwedge_statistics',
    columns: `
  minute bigint NOT NULL,
  integration text NOT NULL,
  tool text NOT NULL,
  figures text,`,
    key: 'minute, integration, tool',
    byKey: true,
    move: { what: 'figures of calls' },
    prune: { old: 'minute < :before AND minute >= 0' },
    session: { none: 'counts calls, whosever they are' },
  },

  // The last attempts of integrations, written when something went wrong, as JSON: they are read as one.
  flight: {
    file: 'unwedge_flights',
    columns: `
  id {bigint GENERATED ALWAYS AS IDENTITY|integer},
  integration text NOT NULL,
  run text NOT NULL,
  pid integer NOT NULL,
  at bigint NOT NULL,
  because text NOT NULL,
  record text NOT NULL,`,
    key: 'id',
    indexes: `CREATE INDEX {flight_by_integration|unwedge_flights_by_integration} ON uw.flight (integration, id);`,
    move: { what: 'last attempts' },
    prune: { old: 'at < :before' },
    session: { of: '{strpos|instr}(t.record, :mark) > 0' },
  },

  // Settings in force for an integration or a session, once for each content. An index of a server holds no text of any length.
  policy: {
    file: 'unwedge_policies',
    columns: `
  name text NOT NULL,
  {digest text NOT NULL,|}
  policy text NOT NULL,
  since bigint NOT NULL,
  seen_at bigint NOT NULL,`,
    key: 'name, {digest|policy}',
    byKey: true,
    move: { what: 'policies' },
    prune: { old: 'seen_at < :before' },
    session: { of: `t.name = :session AND {strpos|instr}(t.policy, '"of":"session"') > 0` },
  },

  // Repetition in what is told apart across processes, such as the session of an agent with hooks: what its watch keeps, as it writes it.
  spinning: {
    file: 'unwedge_spinning',
    since: { file: 15, server: 2 },
    columns: `
  scope text,
  memory text,
  updated_at bigint NOT NULL,`,
    key: 'scope',
    indexes: `CREATE INDEX {spinning_by_time|unwedge_spinning_by_time} ON uw.spinning (updated_at);`,
    move: { what: 'watches of repetition', shared: true },
    prune: { old: 'updated_at < :before' },
    session: { of: `t.scope = :session OR substr(t.scope, 1, length(:session) + 1) = :session || '/'` },
  },

  // Questions to people, each a row until it is pruned: its end is one change of an open row. The answer is JSON; what is asked is without secrets.
  question: {
    file: 'unwedge_questions',
    since: { file: 17, server: 4 },
    columns: `
  id text,
  place text NOT NULL,
  waiter text NOT NULL,
  source text NOT NULL,
  asker text NOT NULL,
  session text,
  what text NOT NULL,
  detail text,
  form text NOT NULL,
  asked_at bigint NOT NULL,
  deadline_at bigint NOT NULL,
  state text NOT NULL DEFAULT 'open',
  answer text,
  ended_at bigint,`,
    key: 'id',
    indexes: `CREATE UNIQUE INDEX {question_place|unwedge_questions_place} ON uw.question (place);
CREATE INDEX {question_open|unwedge_questions_open} ON uw.question (asked_at) WHERE state = 'open';`,
    move: { what: 'questions to people', shared: true },
    prune: { old: 'deadline_at < :before' },
    session: { of: 't.session = :session' },
  },

  // Secrets of the store itself, made when they are first needed: its links are signed with one.
  secret: {
    file: 'unwedge_secrets',
    since: { file: 18, server: 5 },
    columns: `
  name text,
  value text NOT NULL,`,
    key: 'name',
    move: { what: 'secrets of links', shared: true },
    prune: { kept: 'one for each name' },
    session: { none: 'is of the store' },
  },

  // Definitions of the tools of a server, as JSON: as they were first seen, or were accepted since. They are read and written as one.
  definition: {
    file: 'unwedge_definitions',
    since: { file: 19, server: 6 },
    columns: `
  scope text,
  memory text,
  updated_at bigint NOT NULL,`,
    key: 'scope',
    move: { what: 'definitions of tools', shared: true },
    prune: { kept: 'one for each server: what was accepted holds until it is accepted anew' },
    session: { none: 'is of a server' },
  },

  // Runs of a runtime, live or not yet found dead: whose children are whose, and where a live one is reached. A file has the calls of no session, as JSON.
  runtime: {
    file: 'unwedge_runtimes',
    columns: `
  id text,
  {host text NOT NULL,|}
  pid integer NOT NULL,
  process_start text NOT NULL,
  started_at bigint NOT NULL,
  renewed_at bigint NOT NULL,
  name text NOT NULL,
  socket text,
  {seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),|calls text,}`,
    key: 'id',
    move: { left: 'belongs to a process that runs: none has a file that is moved' },
    prune: { kept: 'goes when its process is seen to be gone' },
    session: { none: 'goes with its process; its calls are those of no session' },
  },
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof tables;

export const declared = Object.entries(tables) as readonly (readonly [TableName, Table])[];
