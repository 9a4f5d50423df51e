import type { PgClient, PgModule, PgPool, PgQuery, PgRow } from '../pgDriver.ts';
import { inSchema, type PgTarget } from '../pgTarget.ts';

/** Time that one question may take on the server, and that may be waited for its answer, in ms: some look at the events of a day. */
const statementMs = 20_000;
const answerMs = 25_000;
const connectMs = 5_000;
/** A connection that nobody asks anything for so long is closed, in ms: who looks again and again keeps it. */
const idleMs = 5_000;
const mostConnections = 3;

/** Time that is waited for a lock, and for the answer to a question that is small, in ms. */
const lockMs = 3_000;
const smallMs = 5_000;

const begin = `BEGIN READ ONLY; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementMs}`;

/**
 * Asks the database one question. In its text `uw.` and `uw_schema` stand for our schema.
 * @param size - how long its answer may take: of `small` ones 5 s, else 25 s. @throws what the server says.
 */
export type Ask = (text: string, values?: readonly unknown[], size?: 'small') => Promise<readonly PgRow[]>;

/** Connections that only read: each question is a transaction that cannot write. They do not hold the process. */
export class PgReads {
  readonly #pool: PgPool;
  readonly #schema: string;

  constructor({ Pool }: PgModule, { connectionString, schema }: PgTarget) {
    this.#schema = schema;
    this.#pool = new Pool({
      connectionString,
      application_name: 'unwedge reader',
      max: mostConnections,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      idleTimeoutMillis: idleMs,
      allowExitOnIdle: true,
    });
    // A connection that dies while nobody uses it is replaced by the next; without a listener it would end the process.
    this.#pool.on('error', noop);
    this.#pool.on('connect', (client) => client.on('error', noop));
  }

  /** See {@link Ask}. */
  readonly ask: Ask = async (text, values = [], size) => {
    const client = await this.#pool.connect();
    let isUsable = false;
    try {
      const limit = size === undefined ? {} : { query_timeout: smallMs };
      const rows = await answered(client, { text: inSchema(text, this.#schema), values }, limit);
      isUsable = true;
      return rows;
    } finally {
      client.release(!isUsable);
    }
  };

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** The three are sent together; each is waited for, so that no rejection is left. */
async function answered(
  client: PgClient,
  query: PgQuery,
  limit: Pick<PgQuery, 'query_timeout'>,
): Promise<readonly PgRow[]> {
  const [begun, asked, ended] = await Promise.allSettled([
    client.query({ text: begin, ...limit }),
    client.query({ ...query, ...limit }),
    client.query({ text: 'COMMIT', ...limit }),
  ]);
  for (const each of [begun, asked, ended]) if (each.status === 'rejected') throw each.reason;
  return asked.status === 'fulfilled' ? asked.value.rows : [];
}

function noop(): void {}
