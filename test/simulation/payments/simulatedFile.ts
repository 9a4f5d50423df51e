import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/policy/clock.ts';
import type { Facts } from '../../../src/policy/facts/facts.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Database, Driver } from '../../../src/store/sqlite/database.ts';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { openSqlite } from '../../../src/store/sqlite/sqliteStore.ts';
import type { Store } from '../../../src/store/store.ts';

const found = await findDriver();
const directory = mkdtempSync(join(tmpdir(), 'unwedge-payments-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
let files = 0;

/** A file of the simulation, which outlives the gateways that open it: what is written to it is in memory. */
export class SimulatedFile {
  readonly #path = join(directory, `${++files}.sqlite`);
  readonly #driver: Driver;
  readonly #database: Database;

  constructor() {
    if (!found.ok) throw new Error(found.reason);
    const { kind } = found.driver;
    const database = found.driver.open(':memory:', { busyTimeoutMs: 0 });
    this.#database = database;
    this.#driver = { kind, open: () => ({ ...database, close: () => undefined }) };
  }

  open(clock: Clock, facts: Facts): Promise<Store> {
    return openSqlite({
      driver: this.#driver,
      path: this.#path,
      required: true,
      synchronous: 'NORMAL',
      lockWaitMs: undefined,
      retention: undefined,
      runtimePid: undefined,
      clock,
      facts,
      logger: undefined,
    });
  }

  /** The result of a call; undefined while it has none. */
  resultOf(call: string): ToolResult | undefined {
    const [row] = this.#rows('SELECT result FROM unwedge_calls WHERE id = ?', call);
    return typeof row?.['result'] === 'string' ? (JSON.parse(row['result']) as ToolResult) : undefined;
  }

  /** Calls without a result, of other runs than this. */
  pendingBeside(run: string): readonly string[] {
    const text = `SELECT id FROM unwedge_calls WHERE state = 'pending' AND runtime <> ?`;
    return this.#rows(text, run).map(({ id }) => String(id));
  }

  /** None before the first gateway has opened it. */
  #rows(text: string, value: string): ReturnType<ReturnType<Database['prepare']>['all']> {
    const isMade = this.#database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'unwedge_calls'`).get();
    return isMade === undefined ? [] : this.#database.prepare(text).all(value);
  }
}
