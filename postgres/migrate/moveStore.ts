import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import type { ProcessWorld } from '../../src/actors/process/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { shownSchema } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { judgeRuntimes, openStore } from '../../src/store/face.ts';
import { PgConnections, type Transaction } from '../pgConnections.ts';
import { importPg } from '../pgDriver.ts';
import { preparePgSchema } from '../pgSchema.ts';
import { type PgTarget, readTarget } from '../pgTarget.ts';
import { diagnosePg } from '../pgTrouble.ts';
import {
  type Database,
  type Driver,
  findDriver,
  findEventTable,
  hasTable,
  isOurs,
  markAsMoved,
  readRows,
  refuseTooOld,
  versionsOf,
} from '../../src/store/sqlite/face.ts';
import { runIn, runs } from '../../src/store/tables/face.ts';
import { type Copy, copiesOf } from './copies.ts';
import { markMoved, nameOfMove } from './movedMark.ts';

export interface MoveOptions {
  /** The file, absolute. */
  readonly from: string;
  /** The URL of the database, with its password. */
  readonly to: string;
  /** True where nothing is written anywhere. */
  readonly dryRun: boolean;
  /** The processes as of now: none of them may have the file. */
  readonly world: ProcessWorld;
  readonly clock: Clock;
  /** Ends the move where it is; nothing is changed then. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each page of rows that was copied. @param of - rows of this table in all. */
  readonly progressed?: ((what: string, done: number, of: number) => void) | undefined;
}

/** Result of a move. */
export interface Moved {
  readonly from: string;
  /** Without user and password. */
  readonly to: string;
  readonly schema: string;
  /** By table. */
  readonly rows: readonly { readonly what: string; readonly rows: number }[];
  /** Messages that wait or were begun: the next gateway on the database processes them. */
  readonly messages: number;
  /** Calls without a result: the next gateway on the database answers them. */
  readonly calls: number;
  /** True where an earlier move that was cut off had written the rows. */
  readonly before: boolean;
  /** Place of the file now; absent in a dry run. */
  readonly kept?: string | undefined;
}

/** It cannot be moved, for a reason that the message says. Nothing was changed. */
export class MoveError extends Error {}

/** Time that a lock of another process on the file is waited for, in ms. */
const busyTimeoutMs = 5_000;
/** Rows that are copied by one statement. */
const pageRows = 500;

/**
 * Moves the store of a file into a PostgreSQL database: all of it, in one transaction, or nothing. The file is locked meanwhile, and renamed behind
 * it, so that no gateway goes on with it.
 * @throws RangeError for a wrong URL. @throws {@link MoveError} where it cannot be.
 */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const { from, dryRun } = options;
  const target = readTarget(options.to);
  const found = await findDriver();
  if (!found.ok) throw new MoveError(`${from} cannot be read: ${found.reason}. Fix: ${found.fix}`);
  refuseUsed(found.driver, options);
  if (!dryRun) await settle(options);
  const file = found.driver.open(from, { busyTimeoutMs });
  try {
    if (dryRun) return { ...about(options, target), ...countIn(file), before: false };
    const id = nameOfMove(file);
    file.exec('BEGIN IMMEDIATE');
    // Looked at again behind the lock: a gateway may have been started meanwhile.
    refuseLive(file, options);
    const counted = countIn(file);
    const before = !(await copyAll(file, id, target, options));
    file.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    return { ...about(options, target), ...counted, before, kept: nextName(from) };
  } finally {
    file.close();
  }
}

/** Renames the file that was moved. In its place one is left that says so to who still has its path. @throws what the file system or SQLite reports. */
export async function retire({ from, to, schema, kept }: Moved, clock: Pick<Clock, 'wallNow'>): Promise<void> {
  if (kept === undefined) return;
  const found = await findDriver();
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(from + suffix)) renameSync(from + suffix, kept + suffix);
  if (!found.ok) return;
  closeSync(openSync(from, 'wx', 0o600));
  const sign = found.driver.open(from, { busyTimeoutMs });
  try {
    sign.immediate(() => markAsMoved(sign, shownSchema(to, schema), clock.wallNow()));
  } finally {
    sign.close();
  }
}

const about = ({ from }: MoveOptions, { shown, schema }: PgTarget): Pick<Moved, 'from' | 'to' | 'schema'> => ({
  from,
  to: shown,
  schema,
});

/** @throws {@link MoveError} for a file that is not there, is no store of ours, or has a process. */
function refuseUsed(driver: Driver, options: MoveOptions): void {
  const { from } = options;
  if (!existsSync(from)) throw new MoveError(`There is no database at ${from}`);
  const file = driver.open(from, { busyTimeoutMs, readOnly: true });
  try {
    if (isOurs(file)) refuseTooOld(versionsOf(file, true).version);
    if (!isOurs(file) || !findEventTable(file, true).exists) {
      throw new MoveError(`${from} is not a database of unwedge alone: only such a file can be moved`);
    }
    refuseLive(file, options);
  } catch (error) {
    if (error instanceof MoveError) throw error;
    throw new MoveError(`${from} cannot be read: ${messageOf(error)}`, { cause: error });
  } finally {
    file.close();
  }
}

function refuseLive(file: Database, { from, world, clock }: MoveOptions): void {
  const listed = readRows(file, runs).map(runIn);
  const [run] = judgeRuntimes(listed, world, clock.wallNow()).filter(({ liveness }) => liveness !== 'dead');
  if (run !== undefined) throw new MoveError(`${run.name} (pid ${run.pid}) uses ${from}: stop it first`);
}

/** Brings the file up to date, and writes into it what runs that could not have left beside it. */
async function settle({ from, clock, world }: MoveOptions): Promise<void> {
  try {
    const store = await openStore({
      path: from,
      required: true,
      clock,
      facts: { tell: () => undefined, wants: () => false },
    });
    await store.runtimes.removeDead(world, clock.wallNow());
    const isDone = await store.flush();
    await store.close();
    if (!isDone) throw new Error('it cannot be written');
  } catch (error) {
    throw new MoveError(`${from} cannot be moved: ${messageOf(error)}`, { cause: error });
  }
}

/** @returns false where an earlier move had copied them. @throws {@link MoveError} */
async function copyAll(file: Database, id: string, target: PgTarget, options: MoveOptions): Promise<boolean> {
  const connections = new PgConnections(await importPg(target.shown), target, 1);
  try {
    await preparePgSchema(connections);
    return await connections.transaction(async (transaction) => {
      if (!(await markMoved(transaction, id))) return false;
      await refuseKnown(transaction, file, target);
      for (const copy of copiesIn(file)) await copyTable(transaction, file, copy, options);
      return true;
    });
  } catch (error) {
    if (error instanceof MoveError) throw error;
    const { reason, fix } = diagnosePg(error, target.shown);
    throw new MoveError(`${reason}. Fix: ${fix}`, { cause: error });
  } finally {
    await connections.close();
  }
}

/** A session of this name has a history there: two cannot become one. */
async function refuseKnown(transaction: Transaction, file: Database, { shown, schema }: PgTarget): Promise<void> {
  const ids = file.prepare('SELECT id FROM unwedge_sessions').all();
  const text = 'SELECT key FROM uw.lease WHERE key = ANY ($1::text[]) ORDER BY key LIMIT 1';
  const [known] = await transaction.run({ name: '', text }, [ids.map(({ id: session }) => String(session))]);
  if (known === undefined) return;
  const where = shownSchema(shown, schema);
  throw new MoveError(`Session ${String(known['key'])} is in ${where} already: choose another \`schema\` in the URL`);
}

async function copyTable(
  transaction: Transaction,
  file: Database,
  copy: Copy,
  { progressed, signal }: MoveOptions,
): Promise<void> {
  const of = countRows(file, copy.table);
  const key = copy.key.join(', ');
  const after = `WHERE (${key}) > (${copy.key.map(() => '?').join(', ')})`;
  let last: readonly (string | number)[] = [];
  for (let done = 0; done < of; ) {
    if (signal?.aborted === true) throw new MoveError('It was stopped before the end; nothing was changed');
    const from = done === 0 ? '' : after;
    const rows = file.prepare(`SELECT * FROM ${copy.table} ${from} ORDER BY ${key} LIMIT ${pageRows}`).all(...last);
    if (rows.length === 0) throw new MoveError(`Of ${of} rows of ${copy.table} ${done} could be read`);
    await copy.write(transaction, rows);
    done += rows.length;
    last = copy.key.map((name) => rows.at(-1)?.[name] as string | number);
    progressed?.(copy.what, done, of);
  }
}

function countIn(file: Database): Pick<Moved, 'rows' | 'messages' | 'calls'> {
  const rows = copiesIn(file).map(({ what, table }) => ({ what, rows: countRows(file, table) }));
  const messages = countRows(file, 'unwedge_messages', `state IN ('waiting', 'taken')`);
  return { rows, messages, calls: countRows(file, 'unwedge_calls', `state = 'pending'`) };
}

function copiesIn(file: Database): readonly Copy[] {
  return copiesOf(findEventTable(file, true).name).filter(({ table }) => hasTable(file, table));
}

function countRows(file: Database, table: string, where = 'true'): number {
  if (!hasTable(file, table)) return 0;
  return Number(file.prepare(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`).get()?.['rows']);
}

function nextName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? `${path}.moved` : `${path}.moved-${number}`;
    if (!existsSync(name)) return name;
  }
}
