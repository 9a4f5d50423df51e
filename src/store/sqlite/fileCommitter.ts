import { say } from '../../policy/text/logger.ts';
import type { FactOf } from '../../policy/facts/facts.ts';
import type { Carried, OutageParts } from '../outage.ts';
import type { Committer, Write } from '../committer.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { lostLogText } from './logMark.ts';
import type { Schema } from './schema.ts';
import { diagnose, type SqliteTrouble } from './trouble.ts';

/** Rows that a live runtime needs, whatever becomes of the file: a new one is given them in its first transaction, before any other write. */
export interface Carrier {
  /** Runs again where the transaction fails. @param transaction - another object for each. */
  carry(database: Database, transaction: object): Carried;
}

/** All of them, in their order; the sums of what each has carried. */
export function carryAll(carriers: Iterable<Carrier>, database: Database, transaction: object): Carried {
  let [carried, lost] = [0, 0];
  for (const carrier of carriers) {
    const some = carrier.carry(database, transaction);
    carried += some.carried;
    lost += some.lost;
  }
  return { carried, lost };
}

/** Write to the file. */
export interface FileWrite extends Write {
  /** Runs inside a transaction, and again if that fails. @param transaction - another object for each. */
  run(database: Database, schema: Schema, transaction: object): void;
}

/** Enters that a log was lost. */
export type RecordLost = (database: Database, schema: Schema, fact: FactOf<'store.log_lost'>, at: number) => void;

/** The transactions of a file. A file that is another one than before is given the carriers' rows first. */
export class FileCommitter implements Committer<FileWrite> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #parts: OutageParts;
  readonly #carriers: Carrier[] = [];
  #recordLost: RecordLost | undefined = undefined;
  #generation = 0;
  #saidRefusedRow = false;

  constructor(connection: Connection, path: string, parts: OutageParts) {
    this.#connection = connection;
    this.#path = path;
    this.#parts = parts;
  }

  carries(carrier: Carrier): void {
    this.#carriers.push(carrier);
  }

  recordsLost(record: RecordLost): void {
    this.#recordLost = record;
  }

  commit(batch: readonly FileWrite[], always: boolean): Carried | undefined {
    let given: Carried | undefined;
    let lost: FactOf<'store.log_lost'> | undefined;
    this.#connection.use((database, schema) => {
      // The first contact takes no lock: an up-to-date database can be opened while another process writes.
      const isNew = this.#connection.generation !== this.#generation;
      const { mark } = this.#connection;
      if (batch.length === 0 && !always && !isNew && mark.lost === undefined) return;
      const transaction = {};
      const at = this.#parts.clock.wallNow();
      const entered = database.immediate(() => {
        const found = mark.lost && mark.untold(database);
        const fact = found && ({ type: 'store.log_lost', ...lostLogText(this.#path, found), ...found } as const);
        lost = fact;
        // With the commit that ends the mark of it, so that it is on record once.
        if (fact !== undefined)
          this.#run({ run: () => this.#recordLost?.(database, schema, fact, at) }, database, schema, transaction);
        if (isNew) given = carryAll(this.#carriers, database, transaction);
        for (const write of batch) this.#run(write, database, schema, transaction);
        return mark.enter(database, at);
      });
      entered?.();
    });
    if (lost !== undefined) this.#tellLost(lost);
    if (given !== undefined) this.#generation = this.#connection.generation;
    return given;
  }

  diagnose(error: unknown): SqliteTrouble {
    return diagnose(error, this.#path);
  }

  close(): void {
    this.#connection.close();
  }

  #tellLost(fact: FactOf<'store.log_lost'>): void {
    say(this.#parts.logger, 'warn', `The log of the store was lost. ${fact.reason}. Fix: ${fact.fix}.`);
    // After this turn: whoever opens the store listens by then.
    this.#parts.clock.nextTurn(() => this.#parts.facts.tell(fact, true));
  }

  // A foreign database may have constraints of its own; a row it refuses would be refused for ever and hold up the rest.
  #run(write: FileWrite, database: Database, schema: Schema, transaction: object): void {
    try {
      write.run(database, schema, transaction);
    } catch (error) {
      const trouble = this.diagnose(error);
      if (!trouble.refusedRow) throw error;
      if (!this.#saidRefusedRow) say(this.#parts.logger, 'error', `The store refuses a row. ${trouble.reason}`);
      this.#saidRefusedRow = true;
    }
  }
}
