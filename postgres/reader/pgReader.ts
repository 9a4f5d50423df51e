import type { OrderResult } from '../../src/policy/face.ts';
import { messageNamed } from '../../src/sessions/face.ts';
import {
  type EventQuery,
  type EventRow,
  type Read,
  type RuntimeRow,
  type Work,
  checkQuery,
} from '../../src/store/face.ts';
import type { LetterOrder } from '../../reader/letterOrder.ts';
import { messageRecordIn } from '../../reader/recordRows.ts';
import type {
  AlertView,
  ClusterView,
  DeadLetterRecord,
  MessageRecord,
  SessionOwner,
  SessionRecords,
  StoreReader,
  StoreStatus,
} from '../../reader/storeReader.ts';
import { TableReader } from '../../reader/tableReader.ts';
import { queryOf, queryValues } from '../pgTables.ts';
import { outcomeIn } from '../../src/sessions/face.ts';
import type { importPg, PgRow } from '../pgDriver.ts';
import type { PgTarget } from '../pgTarget.ts';
import { eventsIn, selectEvents, settledId } from '../eventRows.ts';
import { readPgAlerts, readPgStatus } from './pgStatus.ts';
import { readPgCluster } from './pgCluster.ts';
import type { Ask } from './pgReads.ts';
import { untakenMail } from './pgUntakenMail.ts';
import { runIn } from '../../src/store/tables/face.ts';

/** Most mail that is read for one question. */
const mostLetters = 500;

/** Finds whose a session is, and since when, by the clock of the database. */
const leaseOf = `
  SELECT l.token, (extract(epoch FROM clock_timestamp() - l.taken_at) * 1000)::float8 AS has, n.name, n.host, n.pid,
    (extract(epoch FROM n.expires_at - clock_timestamp()) * 1000)::float8 AS lease_left
  FROM uw.lease l LEFT JOIN uw.node n ON n.id = l.owner AND n.expires_at > clock_timestamp() WHERE l.key = $1`;

const waitingMail = `SELECT id AS mail, body, state, 0 AS deliveries, posted_at FROM uw.mail
  WHERE session = $1 AND state = 'waiting' ORDER BY id LIMIT 100`;

const mailOf = 'SELECT id AS mail, number, body, state, outcome FROM uw.mail WHERE session = $1 AND id = $2';

/** A schema of a PostgreSQL database, opened for reading. */
export class PgReader extends TableReader implements StoreReader {
  readonly path: string;
  readonly identity: string;
  readonly #target: PgTarget;
  readonly #ask: Ask;
  readonly #load: typeof importPg;

  /** @param identity - by which the schema is known from one that is made anew under its name. @param load - gives the package `pg`. */
  constructor(target: PgTarget, identity: string, ask: Ask, load: typeof importPg) {
    super();
    this.path = target.shown;
    this.identity = identity;
    this.#target = target;
    this.#ask = ask;
    this.#load = load;
  }

  async events(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { text, values } = selectEvents(query);
    return eventsIn(await this.#ask(text, values), query);
  }

  lastEventId(): Promise<number> {
    return this.#id(settledId('0::bigint'));
  }

  firstEventId(): Promise<number> {
    return this.#id('(SELECT min(id) FROM uw.event)');
  }

  status(now: number): Promise<StoreStatus> {
    return readPgStatus(this.#ask, now);
  }

  /** Its log is the server's, which does not go on without it. */
  async lostLog(): Promise<undefined> {
    return undefined;
  }

  alerts(now: number): Promise<AlertView> {
    return readPgAlerts(this.#ask, now);
  }

  runtimes(): Promise<readonly RuntimeRow[]> {
    return readPgRuntimes(this.#ask);
  }

  override async session(id: string): Promise<SessionRecords | undefined> {
    const [[lease], mail] = await Promise.all([this.#ask(leaseOf, [id]), this.#ask(waitingMail, [id])]);
    const records = await this.records(id, mail);
    const owner = lease && ownerIn(lease);
    return records === undefined || owner === undefined ? records : { ...records, owner };
  }

  /** Whichever node accepted it and whichever has it. */
  override async message(session: string, id: string): Promise<MessageRecord | undefined> {
    const named = messageNamed(id, session);
    if (named === undefined || 'number' in named) return super.message(session, id);
    const [mail] = await this.#ask(mailOf, [session, named.mail]);
    if (mail === undefined) return this.found(session, named);
    // A mail that joined a message by its key is that message.
    if (mail['number'] !== null) return this.found(session, { number: Number(mail['number']) });
    if (mail['state'] === 'waiting') return messageRecordIn(session, { ...mail, number: 0 }, undefined);
    // It was dropped before anybody took it.
    const outcome = mail['outcome'] === null ? undefined : outcomeIn(mail['outcome']);
    return { id, state: 'dropped', ...(outcome?.ok === false && { error: outcome.failure.message }) };
  }

  /** Behind them the mail that nobody takes. */
  override async deadLetters(session?: string): Promise<readonly DeadLetterRecord[]> {
    return super.deadLetters(session, await this.#ask(untakenMail('$1::text', '$2'), [session ?? null, mostLetters]));
  }

  // Loaded now: few ever need it.
  async orderAboutLetter(order: LetterOrder): Promise<OrderResult> {
    return (await import('./pgLetterBox.ts')).actInDatabase(await this.#load(this.path), this.#target, order);
  }

  protected async write(work: () => Work<OrderResult>): Promise<OrderResult> {
    return (await import('./pgLetterBox.ts')).writeInDatabase(await this.#load(this.path), this.#target, work);
  }

  /** Its connections end by themselves. */
  close(): void {}

  cluster(): Promise<ClusterView> {
    return readPgCluster(this.#ask);
  }

  protected readonly read: Read = (statement, row = {}) =>
    this.#ask(queryOf(statement).text, queryValues(statement, row));

  async #id(text: string): Promise<number> {
    const [row] = await this.#ask(`SELECT ${text} AS id`);
    return Number(row?.['id'] ?? 0);
  }
}

/** Undefined where no live node has the session. */
function ownerIn({ name, host, pid, token, has, lease_left: left }: PgRow): SessionOwner | undefined {
  if (typeof host !== 'string') return undefined;
  return {
    ...{ name: String(name), host, pid: Number(pid), fence: Number(token) },
    ...{ sinceMs: Math.max(0, Math.round(Number(has))), leaseLeftMs: Math.round(Number(left)) },
  };
}

/** For how long a run was not heard of says the clock of the database. */
const runtimes = `
  SELECT r.*, greatest(0, extract(epoch FROM clock_timestamp() - greatest(r.seen_at, n.seen_at)) * 1000)::float8 AS silent_ms,
    coalesce(n.expires_at <= clock_timestamp(), false) AS has_expired
  FROM uw.runtime r LEFT JOIN uw.node n ON n.id = r.id ORDER BY r.started_at, r.id`;

/** Runs of all machines that are entered, oldest first. @throws what the server says. */
async function readPgRuntimes(ask: Ask): Promise<readonly RuntimeRow[]> {
  return (await ask(runtimes)).map((row) => ({
    ...runIn(row),
    host: String(row['host']),
    silentMs: Math.round(Number(row['silent_ms'])),
    hasExpired: row['has_expired'] === true,
  }));
}
