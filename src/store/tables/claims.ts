import type { Fact } from '../../policy/facts/facts.ts';
import type { HistoryEntry } from '../../sessions/history.ts';
import type { NamedMessage } from '../../sessions/mailbox.ts';
import {
  type CallRecovery,
  type DeadLetterReason,
  type LostCall,
  maxKeys,
  type Past,
  type Recovered,
  type RecoveryLimits,
  type StoredCall,
  type StoredDeadLetter,
  type StoredEnd,
} from '../../sessions/sessionStore.ts';
import { type Row, type Statement, statement } from '../dialect.ts';
import { toJson } from '../../policy/text/storedJson.ts';
import {
  callEntries,
  historyOf,
  keptOf,
  isDeadLetter,
  judgeUnprocessed,
  lostCall,
  messageIn,
  nameOf,
  toCallRow,
  toMessageRow,
  type Unprocessed,
} from '../sessionRows.ts';
import { all, type Read, type RowStep, step, type Work } from '../work.ts';

/** Columns of a message, as {@link toMessageRow} reads it. */
const messageColumns =
  'm.number, {m.mail, |}m.body, m.key, m.deliveries, m.stops, m.posted_at, m.turn, m.seq, m.taken_at';
/** Columns of a call, as {@link toCallRow} reads it, and how long it may take. */
const callColumns = `c.id, c.session, c.turn, c.integration, c.tool, c.input, c.effect, c.rule, c.idempotency_key, c.seq,
  c.started_at, c.deadline_at, c.state, c.result, c.result_seq, c.settled_at, c.late_result, c.late_at, c.verdict`;
/** SQL for the rows that a query finds for each of its own. */
const eachOf = (query: string): string => `SELECT {w.ord, x.* FROM w CROSS JOIN LATERAL (SELECT |}${query}{) x|}`;

const unprocessedMessages = statement(
  'unprocessed_messages',
  'session text',
  `SELECT {w.ord, |}${messageColumns} FROM {w JOIN |}uw.message m {ON|WHERE} m.session = :session
   {WHERE|AND} m.state IN ('waiting', 'taken') ORDER BY {w.ord, |}m.number`,
);
const pendingCalls = statement(
  'pending_calls',
  'session text',
  `SELECT {w.ord, |}${callColumns} FROM {w JOIN |}uw.call c {ON|WHERE} c.session = :session
   {WHERE|AND} c.state = 'pending' ORDER BY {w.ord, |}c.seq`,
);
/** The last numbers in use. */
export const lastNumbers = statement(
  'last_numbers',
  'session text',
  `SELECT {w.ord, |}coalesce(m.number, 0) AS message, {greatest|max}(coalesce(m.turn, 0), coalesce(c.turn, 0)) AS turn,
     {greatest|max}(coalesce(m.seq, 0), coalesce(c.seq, 0)) AS seq
   FROM {w CROSS JOIN LATERAL |}(
     SELECT max(number) AS number, max(turn) AS turn, max(seq) AS seq FROM uw.message WHERE session = :session) m
   CROSS JOIN {LATERAL |}(
     SELECT max(turn) AS turn, max({greatest|max}(seq, coalesce(result_seq, 0))) AS seq FROM uw.call WHERE session = :session) c`,
);
const keys = statement(
  'keys',
  'session text',
  eachOf(`key, number{, mail|} FROM uw.message WHERE session = :session AND key IS NOT NULL
   ORDER BY number DESC LIMIT ${maxKeys}`),
);
const takenMessages = statement(
  'taken_messages',
  'session text, most integer',
  eachOf(
    `${messageColumns} FROM uw.message m WHERE m.session = :session AND m.seq IS NOT NULL ORDER BY m.seq DESC LIMIT :most`,
  ),
);
const settledCalls = statement(
  'settled_calls',
  'session text, most integer',
  eachOf(
    `${callColumns} FROM uw.call c WHERE c.session = :session AND c.state = 'settled' ORDER BY c.seq DESC LIMIT :most`,
  ),
);
/** Makes dead letters of messages that are not delivered any more. */
const endAsDeadLetter = statement(
  'end_as_dead_letter',
  'session text, number bigint, reason text, at bigint',
  `UPDATE uw.message AS m SET state = :reason, ended_at = :at {FROM w |}WHERE m.session = :session AND m.number = :number`,
  { together: true },
);
/** Answers pending calls of a session that is claimed in the same transaction, or of a dead runtime: the state of the row alone decides. */
const settleLostCall = statement(
  'settle_lost_call',
  'id text, result text, seq bigint, at bigint',
  `UPDATE uw.call AS c SET state = 'settled', result = :result, settled_at = :at, result_seq = :seq
   {FROM w |}WHERE c.id = :id AND c.state = 'pending'`,
  { together: true },
);
const letterOf = (column: 'number' | 'mail') =>
  statement(
    `dead_letter_by_${column}`,
    `session text, ${column} bigint`,
    `SELECT number, {mail, |}body, state, key, deliveries FROM uw.message WHERE session = :session AND ${column} = :${column} AND ${isDeadLetter}`,
  );
/** How a message ended, of one that waits as mail that it waits. */
const endOf = (column: 'number' | 'mail', mail = '') =>
  statement(
    `end_by_${column}`,
    `session text, ${column} bigint`,
    `SELECT state, error, outcome FROM uw.message WHERE session = :session AND ${column} = :${column} ${mail}`,
  );
const endByNumber = endOf('number');
const waitsAsMail = `SELECT state, NULL, NULL FROM uw.mail WHERE session = :session AND id = :mail AND state = 'waiting'`;
const endByMail = endOf('mail', `{UNION ALL ${waitsAsMail}|}`);
const letterByNumber = letterOf('number');
const letterByMail = letterOf('mail');

/** What an earlier run has left of a session, and what is to become of it. */
export interface Left extends Pick<Unprocessed, 'stops'> {
  readonly recovered: Recovered;
  /** Calls that are pending still, as they were written. */
  readonly open: readonly StoredCall[];
  /** The last place in its history, where a call is to be answered. */
  readonly lastSeq: number;
}

/** Reads what is left of a session that is being claimed. */
export function* readLeft(session: string, limits: RecoveryLimits): Work<Left> {
  const [pending = [], unprocessed = []] = yield* all([
    rowsOf(step(pendingCalls, session, { session })),
    rowsOf(step(unprocessedMessages, session, { session })),
  ]);
  const calls = pending.map((row) => ({ lost: lostCall(toCallRow(row)), row }));
  const isKept = ({ lost }: { readonly lost: LostCall }): boolean => limits.keeps?.(lost) === true;
  const kept = calls.filter(isKept);
  const lost = calls.filter((call) => !isKept(call)).map((call) => call.lost);
  const { recovered, stops } = judgeUnprocessed(unprocessed.map(toMessageRow), limits);
  return {
    recovered: { ...recovered, lost, open: kept.map((call) => call.lost) },
    stops,
    open: kept.map((call) => storedCall(call.lost, call.row)),
    // Not for each: it costs as much as the session is long.
    lastSeq: lost.length === 0 ? 0 : yield* lastSeqOf(session),
  };
}

/** Answers the calls that are lost, makes dead letters of the messages that are not delivered any more, and tells of all. */
export function* settleLeft(session: string, { recovered, lastSeq }: Left, limits: RecoveryLimits): Work<void> {
  const { wallNow: at } = limits;
  yield* answerLost(recovered.lost, lastSeq, limits);
  for (const { number, reason } of recovered.deadLetters)
    yield step(endAsDeadLetter, session, { session, number, reason, at });
  yield* all(limits.facts(recovered).map((fact) => told(fact, at)));
}

/** Answers calls of dead runtimes, and tells of all. */
export function* settleDead(lost: readonly LostCall[], limits: CallRecovery): Work<void> {
  const sessions = [...new Set(lost.map(({ session }) => session))];
  yield* all(sessions.map((session) => answerIn(session, lost, limits)));
  yield* all(lost.map((call) => told(limits.fact(call), limits.wallNow)));
}

function* told(fact: Fact, at: number): Work<void> {
  yield { fact: { ...fact, at } };
}

function* answerIn(session: string, lost: readonly LostCall[], limits: CallRecovery): Work<void> {
  const calls = lost.filter((call) => call.session === session);
  yield* answerLost(calls, yield* lastSeqOf(session), limits);
}

/** Answers lost calls of one session, behind all that there is of it. */
function* answerLost(
  calls: readonly LostCall[],
  lastSeq: number,
  { wallNow: at, answer }: Pick<RecoveryLimits, 'wallNow' | 'answer'>,
): Work<void> {
  for (const [index, call] of calls.entries()) {
    const row = { id: call.call, result: toJson(answer(call)), seq: lastSeq + 1 + index, at };
    yield step(settleLostCall, call.session, row);
  }
}

/** Gives the last place in the history of a session. */
function* lastSeqOf(session: string): Work<number> {
  const [last] = yield step(lastNumbers, session, { session });
  return Number(last?.['seq'] ?? 0);
}

/** Reads what nobody needs before a session goes on, for the runtime that has claimed it. @returns as the claim gives it. */
export function* readPast(session: string, historyLimit: number): Work<(historyLimit: number) => Past> {
  const [[last] = [], known = [], messages = [], calls = []] = yield* all([
    rowsOf(step(lastNumbers, session, { session })),
    rowsOf(step(keys, session, { session })),
    rowsOf(step(takenMessages, session, { session, most: historyLimit })),
    rowsOf(step(settledCalls, session, { session, most: Math.ceil(historyLimit / 2) })),
  ]);
  return (limit) => ({
    history: historyOf(session, messages.map(toMessageRow), calls.map(toCallRow), Math.min(limit, historyLimit)),
    keys: known.map(keyIn).reverse(),
    kept: keptOf(calls.map(toCallRow).reverse()),
    lastMessage: Number(last?.['message'] ?? 0),
    lastTurn: Number(last?.['turn'] ?? 0),
    lastSeq: Number(last?.['seq'] ?? 0),
  });
}

/** Reads one dead letter of a session; undefined where there is none, or the store cannot be read. */
export async function readDeadLetter(
  read: Read,
  session: string,
  message: NamedMessage,
): Promise<StoredDeadLetter | undefined> {
  const [row] = await read(letterBy(message), { session, ...message });
  return row && letterIn(row);
}

/** The statement that reads a dead letter by its name. */
export const letterBy = (message: NamedMessage): Statement => ('mail' in message ? letterByMail : letterByNumber);

/** The statement that reads how a message ended. */
export const endBy = (message: NamedMessage): Statement => ('mail' in message ? endByMail : endByNumber);

/** The end in such rows. */
export function endIn([row]: readonly Row[]): StoredEnd | null {
  if (row === undefined) return null;
  const { state, error, outcome } = row as Partial<Record<string, string | null>>;
  return { state: String(state), error: error ?? undefined, outcome: outcome ?? undefined };
}

/** The dead letter in a row. */
export function letterIn(row: Row): StoredDeadLetter {
  const key = typeof row['key'] === 'string' ? row['key'] : undefined;
  const reason = String(row['state']) as DeadLetterReason;
  return {
    ...nameOf(row),
    message: messageIn(String(row['body'])),
    reason,
    key,
    deliveries: Number(row['deliveries']),
  };
}

/** The calls that were made once for a message of this first number. */
export const madeOnce = statement(
  'made_once',
  'session text, message bigint',
  `SELECT ${callColumns} FROM uw.call c
   WHERE c.session = :session AND c.message = :message AND c.state = 'settled' ORDER BY c.seq`,
);

/** The calls in such rows, each with its result. */
export const madeOnceIn = (rows: readonly Row[]): readonly HistoryEntry[] =>
  rows.flatMap((row) => callEntries(toCallRow(row)).map(([, entry]) => entry));

function* rowsOf(made: RowStep): Work<readonly Row[]> {
  return yield made;
}

/** A call that is pending, as it was written. */
function storedCall({ startedAt: at, effect, ...call }: LostCall, row: Row): StoredCall {
  return { ...call, effect, seq: Number(row['seq']), at, deadlineAt: Number(row['deadline_at']) };
}

function keyIn(row: Row): Past['keys'][number] {
  const { number, mail } = nameOf(row);
  return mail === undefined ? [String(row['key']), number] : [String(row['key']), number, mail];
}
