import { type Logger, say } from '../src/policy/text/face.ts';
import type { Committer, Write } from '../src/store/face.ts';
import { aloneIn, statementsOf } from './atOnce.ts';
import { Batch, type BatchRows, type Taken } from './batch.ts';
import { countBatch } from './batchNumber.ts';
import type { PgConnections, Transaction } from './pgConnections.ts';
import { preparePgSchema } from './pgSchema.ts';
import { diagnosePg, hasNoTables, isAnswer, type PgTrouble } from './pgTrouble.ts';

/**
 * Longest texts that go at once. Of some hundred million the driver could not make one, and would send the rest of the transaction with its commit all
 * the same.
 */
const mostChars = 10_000_000;

/** Write to the database. */
export interface PgWrite extends Write {
  /**
   * Adds its rows to a transaction, and again if that fails. It waits for nothing but rows it adds; one that does may add more then, and the
   * transaction takes several ways to the server and back.
   */
  run(batch: BatchRows): void | Promise<void>;
}

/** A batch of which nobody knows whether it was committed. */
interface Unknown {
  readonly writes: readonly PgWrite[];
  /** Tells its writes what became of them; undefined where they know. */
  readonly made?: (() => void) | undefined;
}

/**
 * The transactions of a database. Each batch has a number, which is written with it: where a connection is lost in the middle of a commit, the same
 * batch under the same number finds out whether it was made. So nothing is lost, and nothing is written twice.
 *
 * A batch of which nobody awaits an answer goes to the server at once, its commit included, on the condition that all of its rows are written; one
 * row alone is one statement. Where the condition does not hold nothing is written, and it is tried again row by row, answers first.
 */
export class PgCommitter implements Committer<PgWrite> {
  readonly #connections: PgConnections;
  readonly #path: string;
  readonly #logger: Logger | undefined;
  readonly #writer = crypto.randomUUID();
  #number = 0;
  #unknown: Unknown | undefined = undefined;
  /** True once the writer has a row, in which batches that go at once are counted. */
  #isCounted = false;
  #isReady = false;
  #saidRefusedRow = false;

  constructor(connections: PgConnections, path: string, logger: Logger | undefined) {
    this.#connections = connections;
    this.#path = path;
    this.#logger = logger;
  }

  async commit(writes: readonly PgWrite[], always: boolean): Promise<undefined> {
    if (!this.#isReady) await this.prepare();
    if (writes.length === 0 && !always) return undefined;
    let begun: Begun | undefined;
    if (this.#unknown?.writes !== writes) {
      this.#unknown = undefined;
      this.#number++;
      begun = beginAll(writes);
      if (this.#isCounted && goesAtOnce(begun)) {
        if (await this.#sentAtOnce(writes, begun.batch.take())) return undefined;
        begun = undefined;
      }
    }
    try {
      await this.#send(writes, (transaction) => finish(transaction, begun ?? beginAll(writes)));
    } catch (error) {
      if (!this.diagnose(error).refusedRow) throw error;
      await this.#send(writes, (transaction) => this.#sendApart(transaction, writes));
    }
    this.#isCounted = true;
    this.#unknown = undefined;
    return undefined;
  }

  /** Makes the first contact, once. @throws what `diagnose` reads. */
  async prepare(): Promise<void> {
    if (this.#isReady) return;
    await preparePgSchema(this.#connections);
    this.#isReady = true;
  }

  diagnose(error: unknown): PgTrouble {
    // Somebody has dropped them: what is written next makes them again.
    if (hasNoTables(error)) this.#isReady = false;
    return diagnosePg(error, this.#path);
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Makes what is being committed fail, and all that follows. */
  cut(): void {
    this.#connections.cut();
  }

  /** @returns false where nothing was written. @throws where nobody knows, or where it can be tried again like this. */
  async #sentAtOnce(writes: readonly PgWrite[], rows: Taken): Promise<boolean> {
    const made = (): void => {
      for (const group of rows.groups) for (const row of group.rows) row.kept?.('durable');
    };
    const count = [this.#writer, this.#number] as const;
    const alone = aloneIn(rows, count);
    this.#unknown = { writes, made };
    try {
      await (alone === undefined
        ? this.#connections.atOnce(statementsOf(rows, count))
        : this.#connections.alone(alone));
    } catch (error) {
      if (!isAnswer(error)) throw error;
      this.#unknown = undefined;
      if (!this.diagnose(error).refusedRow) throw error;
      return false;
    }
    this.#unknown = undefined;
    made();
    return true;
  }

  /** Commits when all is answered; a batch that was committed before is not written again. */
  #send(writes: readonly PgWrite[], send: (transaction: Transaction) => Promise<void>): Promise<void> {
    return this.#connections.transaction(async (transaction) => {
      const counted = transaction.run(countBatch, [this.#writer, this.#number]);
      const unknown = this.#unknown;
      if (unknown !== undefined && (await counted).length === 0) {
        unknown.made?.();
        return;
      }
      await Promise.all([counted, send(transaction)]);
      this.#unknown = { writes };
    });
  }

  /** Each write by itself: a row that the database refuses would be refused for ever, and hold up the rest. */
  async #sendApart(transaction: Transaction, writes: readonly PgWrite[]): Promise<void> {
    for (const write of writes) {
      await transaction.script('SAVEPOINT write');
      try {
        await finish(transaction, beginAll([write]));
      } catch (error) {
        const trouble = this.diagnose(error);
        if (!trouble.refusedRow) throw error;
        await transaction.script('ROLLBACK TO SAVEPOINT write');
        if (!this.#saidRefusedRow) say(this.#logger, 'error', `The store refuses a row. ${trouble.reason}`);
        this.#saidRefusedRow = true;
      }
      await transaction.script('RELEASE SAVEPOINT write');
    }
  }
}

/** Writes that have added their first rows. */
interface Begun {
  readonly batch: Batch;
  /** Number of those that may add more. */
  open: number;
  failure?: { readonly error: unknown };
}

function beginAll(writes: readonly PgWrite[]): Begun {
  const begun: Begun = { batch: new Batch(), open: 0 };
  for (const write of writes) {
    const run = write.run(begun.batch);
    if (run === undefined) continue;
    begun.open++;
    run.then(
      () => begun.open--,
      (error: unknown) => {
        begun.failure ??= { error };
        begun.open--;
      },
    );
  }
  return begun;
}

/** Tells whether the commit can be sent without a wait for an answer. */
function goesAtOnce({ batch, open }: Begun): boolean {
  return open === 0 && !batch.isAsked && batch.chars <= mostChars;
}

/** Sends what was added; writes that add more when they are answered go on until all are through. */
async function finish(transaction: Transaction, begun: Begun): Promise<void> {
  while (!begun.batch.isEmpty) {
    await begun.batch.send(transaction);
    if (begun.open > 0) await continued();
  }
  if (begun.failure !== undefined) throw begun.failure.error;
}

/** Chains of promises are short: when the loop comes round each has added what it adds. */
function continued(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
