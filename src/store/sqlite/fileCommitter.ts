import { type Logger, say } from '../../policy/logger.ts';
import type { Carried } from '../outage.ts';
import type { Committer, Write } from '../committer.ts';
import { type Carrier, carryAll } from './carriers.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { diagnose, type SqliteTrouble } from './trouble.ts';

/** One write to the file. */
export interface FileWrite extends Write {
  /** Runs inside a transaction, and again if that fails. @param transaction - another object for each. */
  run(database: Database, schema: Schema, transaction: object): void;
}

/** The transactions of a file. A file that is another one than before is given the carriers' rows first. */
export class FileCommitter implements Committer<FileWrite> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #logger: Logger | undefined;
  readonly #carriers: Carrier[] = [];
  #generation = 0;
  #saidRefusedRow = false;

  constructor(connection: Connection, path: string, logger: Logger | undefined) {
    this.#connection = connection;
    this.#path = path;
    this.#logger = logger;
  }

  carries(carrier: Carrier): void {
    this.#carriers.push(carrier);
  }

  commit(batch: readonly FileWrite[], always: boolean): Carried | undefined {
    let given: Carried | undefined;
    this.#connection.use((database, schema) => {
      // The first contact takes no lock: an up-to-date database can be opened while another process writes.
      const isNew = this.#connection.generation !== this.#generation;
      if (batch.length === 0 && !always && !isNew) return;
      const transaction = {};
      database.immediate(() => {
        if (isNew) given = carryAll(this.#carriers, database, transaction);
        for (const write of batch) this.#run(write, database, schema, transaction);
      });
    });
    if (given !== undefined) this.#generation = this.#connection.generation;
    return given;
  }

  diagnose(error: unknown): SqliteTrouble {
    return diagnose(error, this.#path);
  }

  close(): void {
    this.#connection.close();
  }

  // A foreign database may have constraints of its own; a row it refuses would be refused for ever and hold up the rest.
  #run(write: FileWrite, database: Database, schema: Schema, transaction: object): void {
    try {
      write.run(database, schema, transaction);
    } catch (error) {
      const trouble = this.diagnose(error);
      if (!trouble.refusedRow) throw error;
      if (!this.#saidRefusedRow) say(this.#logger, 'error', `The store refuses a row. ${trouble.reason}`);
      this.#saidRefusedRow = true;
    }
  }
}
