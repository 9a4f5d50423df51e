import type { OrderResult } from '../src/policy/face.ts';
import type {
  CallFiguresRow,
  CallTotals,
  FlightRecord,
  PersonAnswer,
  PolicyRow,
  Question,
} from '../src/policy/records/face.ts';
import { checkInteger } from '../src/policy/options/face.ts';
import { type HistoryEntry, messageNamed } from '../src/sessions/face.ts';
import {
  type FlightQuery,
  type Read,
  type Row,
  type Work,
  historyOf,
  isDeadLetter,
  letterWhy,
  statement,
  toCallRow,
  toMessageRow,
} from '../src/store/face.ts';
import { fromJson } from '../src/policy/text/face.ts';
import {
  callRecordIn,
  deadLetterIn,
  messageRecordIn,
  sessionRecordsIn,
  type ShownResult,
  turnIn,
} from './recordRows.ts';
import { answered, recorded } from './letterOrder.ts';
import type {
  AlertNoteFact,
  CallRecord,
  DeadLetterRecord,
  MessageRecord,
  SessionRecords,
  TurnRecord,
} from './storeReader.ts';
import {
  questionOfLink,
  questionsOfTools,
  questionReads,
  readFlights,
  readPolicies,
  readStatistics,
  readTotals,
} from '../src/store/tables/face.ts';

/** Most rows that are told of each kind, most sessions that are listed, and most dead letters. */
const mostRows = 100;
const mostSessions = 1000;
const mostLetters = 500;
/** Texts of more bytes are not read: what is shown of them is at their beginning and at their end. */
const mostBytes = 65_536;
const endChars = 300;

const known = statement('known_session', 'session text', 'SELECT 1 AS known FROM uw.lease WHERE {key|id} = :session');
const ids = statement(
  'session_ids',
  '',
  `SELECT {key|id} AS id FROM uw.lease ORDER BY {key COLLATE "C"|id} LIMIT ${mostSessions}`,
);
const waiting = statement(
  'waiting_sessions',
  '',
  `SELECT id FROM (
     SELECT session AS id FROM uw.message WHERE state IN ('waiting', 'taken')
     {UNION SELECT session FROM uw.mail WHERE state = 'waiting'|}
     UNION SELECT session FROM uw.call WHERE state = 'pending') s ORDER BY id {COLLATE "C"|} LIMIT ${mostSessions}`,
);
const unprocessed = statement(
  'unprocessed',
  'session text',
  `SELECT number, {mail, |}body, state, deliveries, posted_at FROM uw.message
   WHERE session = :session AND state IN ('waiting', 'taken') ORDER BY number LIMIT ${mostRows}`,
);
// A file of before has no rules.
const pending = statement(
  'pending',
  'session text',
  `SELECT {id, integration, tool, started_at, deadline_at, rule|*} FROM uw.call
   WHERE session = :session AND state = 'pending' ORDER BY seq LIMIT ${mostRows}`,
);
const lettersOf = statement(
  'letters_of',
  'session text',
  `SELECT number, {mail, |}${letterWhy} FROM uw.message WHERE session = :session AND ${isDeadLetter}
   ORDER BY number DESC LIMIT ${mostRows}`,
);
/**
 * SQL for the tools, parted by commas, that the last turn of a letter called, may act, and are not made once for their message. In a store of an earlier version
 * calls have no `message`: there it is that of `earlier`.
 */
const madeAgain = `(
  SELECT {string_agg|group_concat}(DISTINCT c.integration || ' ' || c.tool{, ','|}) FROM uw.call c
  WHERE c.session = m.session AND c.turn = m.turn AND message IS NULL AND coalesce(c.effect, 'mutating') = 'mutating')`;
/** Statements of their own: a condition that holds for all sessions, too, would have a file read the messages of all of them. */
const lettersWhere = (name: string, columns: string, where: string) =>
  statement(
    name,
    columns,
    `SELECT session, number, {mail, |}body, ${letterWhy}, deliveries, posted_at, ended_at, ${madeAgain} AS again
     FROM (SELECT NULL AS message) earlier CROSS JOIN uw.message m
     WHERE ${isDeadLetter} ${where} ORDER BY ended_at DESC {NULLS LAST|}, session, number DESC LIMIT ${mostLetters}`,
  );
const allLetters = lettersWhere('letters', '', '');
const lettersBySession = lettersWhere('letters_by_session', 'session text', 'AND session = :session');
const messageBy = (column: 'number' | 'mail') =>
  statement(
    `message_by_${column}`,
    `session text, ${column} bigint`,
    `SELECT m.number, {m.mail, |}m.body, m.state, m.error, (
       SELECT c.result FROM uw.call c WHERE c.session = m.session AND c.turn = m.turn AND c.state = 'settled'
       ORDER BY coalesce(c.result_seq, c.seq) DESC LIMIT 1) AS result
     FROM uw.message m WHERE m.session = :session AND m.${column} = :${column}`,
  );
const byNumber = messageBy('number');
const byMail = messageBy('mail');
const last = 'session text, most bigint';
const lastMessages = statement(
  'last_messages',
  last,
  'SELECT * FROM uw.message WHERE session = :session AND seq IS NOT NULL ORDER BY seq DESC LIMIT :most',
);
const lastCalls = statement(
  'last_calls',
  last,
  `SELECT * FROM uw.call WHERE session = :session AND state = 'settled' ORDER BY seq DESC LIMIT :most`,
);
/** SQL for a text of JSON, of a long one both ends. A server itself reads no JSON that holds `\\u0000`. */
const shortened = (column: string): string =>
  `CASE WHEN {octet_length|length}(${column}) <= ${mostBytes} THEN ${column}
     ELSE substr(${column}, 1, ${endChars}) || {right(${column}, |substr(${column}, -}${endChars}) END AS ${column}`;
const lastTurns = statement(
  'last_turns',
  last,
  `SELECT number, {mail, |}${shortened('body')}, state, deliveries, posted_at, turn, taken_at, ended_at, error
   FROM uw.message WHERE session = :session AND turn IS NOT NULL ORDER BY turn DESC LIMIT :most`,
);
const callsSince = statement(
  'calls_since',
  'session text, turn bigint',
  `SELECT * FROM (
     SELECT id, integration, tool, started_at, settled_at, late_at, ${shortened('result')}, turn, seq,
       row_number() OVER (PARTITION BY turn ORDER BY seq) AS place
     FROM uw.call WHERE session = :session AND turn >= :turn) placed
   WHERE place <= ${mostRows} ORDER BY turn, seq`,
);

/** Reader of tables that are the same in a file and on a server. Rejects with what the engine says. */
export abstract class TableReader {
  protected abstract readonly read: Read;

  /** Does what somebody orders, by a connection of its own. Never rejects. */
  protected abstract write(work: () => Work<OrderResult>): Promise<OrderResult>;

  recordNote(fact: AlertNoteFact, at: number): Promise<OrderResult> {
    return this.write(() => recorded(fact, Math.round(at)));
  }

  questions(): Promise<readonly Question[]> {
    return questionReads(this.read).open();
  }

  toolQuestions(server: string): Promise<readonly Question[]> {
    return questionsOfTools(this.read, server);
  }

  questionOfLink(id: string, signed: string): Promise<Question | undefined> {
    return questionOfLink(this.read, id, signed);
  }

  async answerQuestion(id: string, answer: PersonAnswer, at: number): Promise<OrderResult> {
    const found = await questionReads(this.read).named(id);
    return this.write(() => answered(found, id, answer, Math.round(at)));
  }

  statistics(since: number, of?: 'tools' | 'whole'): Promise<readonly CallFiguresRow[]> {
    return readStatistics(this.read, since, of);
  }

  totals(): Promise<readonly CallTotals[]> {
    return readTotals(this.read);
  }

  flights(query: FlightQuery): Promise<readonly FlightRecord[]> {
    return readFlights(this.read, query);
  }

  policies(): Promise<readonly PolicyRow[]> {
    return readPolicies(this.read);
  }

  async sessionIds(): Promise<readonly string[]> {
    return (await this.read(ids)).map(({ id }) => String(id));
  }

  /** Ids of those of which messages wait or calls are pending. */
  async waitingSessions(): Promise<readonly string[]> {
    return (await this.read(waiting)).map(({ id }) => String(id));
  }

  session(session: string): Promise<SessionRecords | undefined> {
    return this.records(session, []);
  }

  /** @param mail - rows of messages that are on their way to it. @returns undefined for a session that was never kept here. */
  protected async records(session: string, mail: readonly Row[]): Promise<SessionRecords | undefined> {
    const [[found], messages, calls, deadLetters] = await Promise.all([
      this.read(known, { session }),
      this.read(unprocessed, { session }),
      this.read(pending, { session }),
      this.read(lettersOf, { session }),
    ]);
    if (found === undefined && mail.length === 0) return undefined;
    return sessionRecordsIn(session, { messages: [...messages, ...mail], calls, deadLetters });
  }

  /** The last turns of a session, newest first. */
  async turns(session: string, limit: number): Promise<readonly TurnRecord[]> {
    checkInteger('limit', limit);
    const turns = await this.read(lastTurns, { session, most: limit });
    const oldest = turns.at(-1);
    if (oldest === undefined) return [];
    const calls = new Map<number, CallRecord[]>();
    for (const row of await this.read(callsSince, { session, turn: Number(oldest['turn']) })) {
      const turn = Number(row['turn']);
      calls.set(turn, [...(calls.get(turn) ?? []), callRecordIn(row, resultIn(row))]);
    }
    return turns.map((row) => turnIn(session, row, kindIn(row), calls.get(Number(row['turn'])) ?? []));
  }

  async message(session: string, id: string): Promise<MessageRecord | undefined> {
    const named = messageNamed(id, session);
    if (named === undefined || !('number' in named)) return undefined;
    const record = await this.found(session, named);
    // A message that came as mail has the id of the mail for good.
    return record?.id === id ? record : undefined;
  }

  protected async found(
    session: string,
    named: { readonly number: number } | { readonly mail: number },
  ): Promise<MessageRecord | undefined> {
    const [row] = await this.read('mail' in named ? byMail : byNumber, { session, ...named });
    return row && messageRecordIn(session, row, row['result']);
  }

  /** The latest whole turns of a session. */
  async history(session: string, limit: number): Promise<readonly HistoryEntry[]> {
    checkInteger('limit', limit);
    const [messages, calls] = await Promise.all([
      this.read(lastMessages, { session, most: limit }),
      this.read(lastCalls, { session, most: Math.ceil(limit / 2) }),
    ]);
    return historyOf(session, messages.map(toMessageRow), calls.map(toCallRow), limit);
  }

  /** Dead letters of a session or of all, the newest first. @param more - rows of others, behind them. */
  async deadLetters(session?: string, more: readonly Row[] = []): Promise<readonly DeadLetterRecord[]> {
    const found = session === undefined ? this.read(allLetters) : this.read(lettersBySession, { session });
    const rows = [...(await found), ...more];
    return rows.slice(0, mostLetters).map(deadLetterIn);
  }
}

function kindIn({ body }: Row): string | undefined {
  const whole = fromJson(body);
  const kind =
    whole === undefined
      ? /^\{"kind":"([^"\\]+)"/.exec(String(body))?.[1]
      : (whole.value as { readonly kind?: unknown } | null)?.kind;
  return typeof kind === 'string' ? kind : undefined;
}

function resultIn({ result }: Row): ShownResult {
  if (typeof result !== 'string') return {};
  const whole = fromJson(result)?.value as (ShownResult & { readonly retries?: unknown }) | null | undefined;
  if (whole !== undefined && whole !== null) {
    const { status, synthetic, attempts, retries } = whole;
    return { status, synthetic, attempts: attempts ?? (typeof retries === 'number' ? retries + 1 : undefined) };
  }
  const retries = /"retries":(\d+)(?!.*"retries":)/s.exec(result)?.[1];
  return {
    status: /^\{"status":"(\w+)"/.exec(result)?.[1],
    attempts: retries === undefined ? undefined : Number(retries) + 1,
  };
}
