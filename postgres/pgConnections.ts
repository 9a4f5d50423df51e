import { Socket } from 'node:net';
import type { PgClient, PgModule, PgPool, PgRow } from './pgDriver.ts';
import { inSchema, type PgTarget } from './pgTarget.ts';
import { isOfStatement, ReadOnlyServerError } from './pgTrouble.ts';

/** Time that one statement may take on the server, and that may be waited for its answer, in ms. */
const statementMs = 5_000;
const longestAnswerMs = 7_000;
const connectMs = 5_000;
/** Texts of statements that are remembered: those of one kind of question each. */
const mostTexts = 500;

/** Shortest wait of the server for a client that is in the middle of a transaction, in ms. */
const shortestIdleMs = 1_000;

/** A statement. In its text `uw.` and `uw_schema` stand for our schema. */
export interface Sql {
  /** By which it is prepared; empty for one that is not. At most 63 characters. */
  readonly name: string;
  readonly text: string;
}

/** A statement with its values. */
export interface Bound {
  readonly sql: Sql;
  readonly values?: readonly unknown[] | undefined;
}

/** A transaction that is under way. Statements are sent as they are given, without a wait for the answers of those before. */
export interface Transaction {
  run(sql: Sql, values?: readonly unknown[]): Promise<readonly PgRow[]>;
  /** Several statements in one text, without values. */
  script(text: string): Promise<void>;
}

/** The connections to a database: a few, each for one transaction at a time. */
export class PgConnections {
  readonly #pool: PgPool;
  readonly #target: PgTarget;
  readonly #texts = new Map<string, string>();
  /**
   * Begins a transaction. Its limits are those of the transaction alone: behind a PgBouncer in transaction mode nothing may be left on a connection. A
   * client that stands still in the middle of one loses its sessions meanwhile, and lets go of its locks on them by then.
   */
  readonly #begin: string;
  readonly #sockets = new Set<Socket>();
  #closing: Promise<void> | undefined = undefined;

  /** @param most - connections at once. @param answerMs - what may be waited for an answer. */
  constructor({ Pool }: PgModule, target: PgTarget, most: number, answerMs = longestAnswerMs) {
    this.#target = target;
    const idleMs = Math.max(shortestIdleMs, Math.min(statementMs, target.leaseMs));
    this.#begin = `BEGIN; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`;
    this.#pool = new Pool({
      connectionString: target.connectionString,
      application_name: 'unwedge',
      max: most,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: Math.min(connectMs, answerMs),
      query_timeout: answerMs,
      allowExitOnIdle: true,
      stream: () => this.#socket(),
      verify: (client: PgClient, done: (error?: Error) => void) =>
        void canWrite(client).then((can) => done(can ? undefined : new ReadOnlyServerError()), done),
    });
    // A connection that dies while nobody uses it is replaced by the next; without a listener it would end the process.
    this.#pool.on('error', noop);
    this.#pool.on('connect', (client) => client.on('error', noop));
  }

  /**
   * Runs work in one transaction, and commits it.
   * @throws what the server says, or what happened to the connection: then nobody knows whether it was committed.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#withClient(async (client) => {
      const begun = client.query({ text: this.#begin });
      begun.catch(noop);
      const result = await work({
        run: (sql, values) => this.#run(client, { sql, values }),
        script: async (text) => void (await client.query({ text: this.#written(text) })),
      });
      await begun;
      await client.query({ text: 'COMMIT' });
      return result;
    }, hasRolledBack);
  }

  /**
   * Runs statements in one transaction, its end included, and waits for nothing before all of it is sent. Where one fails none was made.
   * @returns the rows of each.
   * @throws as {@link transaction} does.
   */
  atOnce(statements: readonly Bound[]): Promise<readonly (readonly PgRow[])[]> {
    return this.#withClient(async (client) => {
      const begun = client.query({ text: this.#begin });
      const sent = statements.map((bound) => this.#run(client, bound));
      const committed = client.query({ text: 'COMMIT' });
      const answers = await Promise.allSettled([begun, ...sent, committed]);
      for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
      return Promise.all(sent);
    });
  }

  /** Runs a statement that is a transaction by itself: no limit is set on the server. @throws as {@link transaction} does. */
  alone(statement: Bound): Promise<readonly PgRow[]> {
    return this.#withClient((client) => this.#run(client, statement));
  }

  /** Reads, in a transaction of its own. */
  async read(sql: Sql, values?: readonly unknown[]): Promise<readonly PgRow[]> {
    const [rows = []] = await this.atOnce([{ sql, values }]);
    return rows;
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  /** Ends all connections at once: what is under way fails, and nothing is begun any more. */
  cut(): void {
    void this.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #socket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** @param mends - makes the connection ready for others after the server has refused something; says whether it is. */
  async #withClient<T>(
    work: (client: PgClient) => Promise<T>,
    mends?: (client: PgClient) => Promise<boolean>,
  ): Promise<T> {
    const client = await this.#pool.connect();
    let isUsable = true;
    try {
      return await work(client);
    } catch (error) {
      isUsable = isOfStatement(error) && (mends === undefined || (await mends(client)));
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  async #run(client: PgClient, { sql: { name, text }, values = [] }: Bound): Promise<readonly PgRow[]> {
    const query = { text: this.#textOf(text), values };
    const isPrepared = this.#target.prepares && name !== '';
    const { rows } = await client.query(isPrepared ? { ...query, name } : query);
    return rows;
  }

  #textOf(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const written = this.#written(text);
    if (this.#texts.size < mostTexts) this.#texts.set(text, written);
    return written;
  }

  #written(text: string): string {
    return inSchema(text, this.#target.schema);
  }
}

/** A name may lead to a standby while servers change their parts: what is asked there is refused, or old. */
async function canWrite(client: PgClient): Promise<boolean> {
  const text = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS reads`;
  const [row] = (await client.query({ text })).rows;
  return row?.['reads'] !== true;
}

async function hasRolledBack(client: PgClient): Promise<boolean> {
  try {
    await client.query({ text: 'ROLLBACK' });
    return true;
  } catch {
    return false;
  }
}

function noop(): void {}
