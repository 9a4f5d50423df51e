import { type Logger, say } from '../../policy/logger.ts';
import type { Committer, Write } from '../committer.ts';
import { Batch, type BatchRows } from './batch.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';
import type { PgConnections, Transaction } from './pgConnections.ts';
import { diagnosePg, type PgTrouble } from './pgTrouble.ts';
import { preparePgSchema } from './pgSchema.ts';

/** One write to the database. */
export interface PgWrite extends Write {
  /** Runs inside a transaction, and again if that fails. It waits for nothing but the rows it adds. */
  run(batch: BatchRows): void | Promise<void>;
}

/**
 * Counts the batches of a writer. No row: this one was committed before, though nobody heard of it. A commit that is still under way is waited for.
 */
const count: RowStatement = {
  name: 'count_batch',
  text: `WITH ${rowsOf('id uuid, batch bigint')}
    INSERT INTO uw.writer AS k (id, batch) SELECT id, batch FROM w
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, at = clock_timestamp() WHERE k.batch < excluded.batch
    RETURNING 1 AS ord`,
};

/**
 * The transactions of a database. Each batch has a number, which is written with it: where a connection is lost in the middle of a commit, the same
 * batch under the same number finds out whether it was made. So nothing is lost, and nothing is written twice.
 */
export class PgCommitter implements Committer<PgWrite> {
  readonly #connections: PgConnections;
  readonly #path: string;
  readonly #logger: Logger | undefined;
  readonly #writer = crypto.randomUUID();
  #number = 0;
  /** The batch whose statements were all answered, and whose commit may have been made. */
  #sent: readonly PgWrite[] | undefined = undefined;
  #isReady = false;
  #saidRefusedRow = false;

  constructor(connections: PgConnections, path: string, logger: Logger | undefined) {
    this.#connections = connections;
    this.#path = path;
    this.#logger = logger;
  }

  async commit(batch: readonly PgWrite[], always: boolean): Promise<undefined> {
    await this.prepare();
    if (batch.length === 0 && !always) return undefined;
    if (this.#sent !== batch) this.#number++;
    try {
      await this.#connections.transaction((transaction) => this.#send(transaction, batch, sendTogether));
    } catch (error) {
      if (this.#sent === batch || !this.diagnose(error).refusedRow) throw error;
      await this.#connections.transaction((transaction) => this.#send(transaction, batch, this.#sendApart));
    }
    this.#sent = undefined;
    return undefined;
  }

  /** Makes the first contact, once. @throws what `diagnose` reads. */
  async prepare(): Promise<void> {
    if (this.#isReady) return;
    await preparePgSchema(this.#connections);
    this.#isReady = true;
  }

  diagnose(error: unknown): PgTrouble {
    return diagnosePg(error, this.#path);
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** What is being committed fails, and all that follows. */
  cut(): void {
    this.#connections.cut();
  }

  async #send(
    transaction: Transaction,
    batch: readonly PgWrite[],
    how: (transaction: Transaction, batch: readonly PgWrite[]) => Promise<void>,
  ): Promise<void> {
    const counted = transaction.run(count, [[this.#writer], [this.#number]]);
    if (this.#sent === batch) {
      if ((await counted).length === 0) return;
      this.#sent = undefined;
    }
    await Promise.all([counted, how(transaction, batch)]);
    this.#sent = batch;
  }

  /** Each write by itself: a row that the database refuses would be refused for ever, and hold up the rest. */
  readonly #sendApart = async (transaction: Transaction, batch: readonly PgWrite[]): Promise<void> => {
    for (const write of batch) {
      await transaction.script('SAVEPOINT write');
      try {
        await sendTogether(transaction, [write]);
      } catch (error) {
        const trouble = this.diagnose(error);
        if (!trouble.refusedRow) throw error;
        await transaction.script('ROLLBACK TO SAVEPOINT write');
        if (!this.#saidRefusedRow) say(this.#logger, 'error', `The store refuses a row. ${trouble.reason}`);
        this.#saidRefusedRow = true;
      }
      await transaction.script('RELEASE SAVEPOINT write');
    }
  };
}

/** Has the writes add their rows, and sends these; those that add more when they are answered go on until all are through. */
async function sendTogether(transaction: Transaction, writes: readonly PgWrite[]): Promise<void> {
  const batch = new Batch();
  let open = 0;
  let failure: { readonly error: unknown } | undefined;
  for (const write of writes) {
    const run = write.run(batch);
    if (run === undefined) continue;
    open++;
    run.then(
      () => open--,
      (error: unknown) => {
        failure ??= { error };
        open--;
      },
    );
  }
  while (!batch.isEmpty) {
    await batch.send(transaction);
    if (open > 0) await continued();
  }
  if (failure !== undefined) throw failure.error;
}

/** Chains of promises are short: when the loop comes round each has added what it adds. */
function continued(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
