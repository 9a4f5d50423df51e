import { hostname } from 'node:os';
import type { ProcessWorld } from '../../actors/process/processWorld.ts';
import type { Fact } from '../../policy/facts.ts';
import { judgeRuntimes, type RuntimeRow, type Runtimes } from '../runtimes.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import { removeNode, removeOldNodes } from './leaseStatements.ts';
import type { NodeDescription } from './leases.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgEvents } from './pgEvents.ts';
import type { PgRow } from './pgDriver.ts';

/** Time that a node that has expired is shown, in minutes. */
const forgottenMinutes = 60;

const columns = 'id, pid, process_start, started_at, renewed_at, name, socket';

const upsert: RowStatement = {
  name: 'upsert_runtime',
  text: `WITH ${rowsOf(`host text, id text, pid integer, process_start text, started_at bigint, renewed_at bigint, name text,
      socket text`)}
    INSERT INTO uw.runtime (host, ${columns}) SELECT host, ${columns} FROM w
    ON CONFLICT (id) DO UPDATE SET renewed_at = excluded.renewed_at, socket = excluded.socket, seen_at = clock_timestamp()`,
};
const remove: RowStatement = {
  name: 'delete_runtime',
  text: `WITH ${rowsOf('id text')} DELETE FROM uw.runtime AS r USING w WHERE r.id = w.id RETURNING w.ord`,
};

/** Takes a run off, unless messages or calls wait of sessions that it owns: no other has claimed them. */
const removeDied: RowStatement = {
  name: 'delete_died_runtime',
  text: `WITH ${rowsOf('id text')} DELETE FROM uw.runtime AS r USING w
    WHERE r.id = w.id AND NOT EXISTS (SELECT FROM uw.lease l WHERE l.owner = w.id AND (
      EXISTS (SELECT FROM uw.message m WHERE m.session = l.key AND m.state IN ('waiting', 'taken'))
      OR EXISTS (SELECT FROM uw.call c WHERE c.session = l.key AND c.state = 'pending')))
    RETURNING w.ord`,
};

/**
 * Runs in the database, by machine: nobody can judge a process of another one. Whose a session is does not depend on them, but one that leaves gives
 * back its sessions.
 */
export class PgRuntimes implements Runtimes {
  readonly #database: PgDatabase;
  readonly #events: Pick<PgEvents, 'insert'>;
  readonly #left: (id: string, isFree: boolean) => void;
  readonly #host = hostname();
  readonly #names = new Map<string, string>();

  /** @param left - told of a runtime that leaves: first as it does, and when its sessions are free. */
  constructor(database: PgDatabase, events: Pick<PgEvents, 'insert'>, left: (id: string, isFree: boolean) => void) {
    this.#database = database;
    this.#events = events;
    this.#left = left;
  }

  /** A runtime as a node. */
  describe(id: string): NodeDescription {
    return { host: this.#host, pid: process.pid, name: this.#names.get(id) ?? '' };
  }

  enter({ id, pid, processStart, startedAt, renewedAt, name, socket }: RuntimeRow): void {
    this.#names.set(id, name);
    if (this.#database.degraded) return;
    const times = [startedAt, renewedAt].map(Math.round);
    const values = [this.#host, id, pid, processStart, ...times, name, socket ?? null];
    this.#database.write({
      run(batch) {
        batch.add(upsert, `runtime ${id}`, values);
        batch.add(removeOldNodes, 'nodes', [forgottenMinutes]);
      },
    });
  }

  leave(id: string): void {
    this.#left(id, false);
    this.#database.write({
      run(batch) {
        batch.add(remove, `runtime ${id}`, [id]);
        batch.add(removeNode, `node ${id}`, [id]);
      },
      committed: () => this.#left(id, true),
    });
  }

  async pids(): Promise<readonly number[]> {
    return (await this.#runs()).map(({ pid }) => pid);
  }

  async removeDead(
    world: ProcessWorld,
    wallNow: number,
    factsOf?: (run: RuntimeRow) => readonly Fact[],
  ): Promise<readonly RuntimeRow[]> {
    const dead = judgeRuntimes(await this.#runs(), world, wallNow).filter(({ liveness }) => liveness === 'dead');
    if (dead.length === 0) return [];
    // Their leases run out by themselves: a clock of ours is no judge of them.
    const died = await this.#database.transact(async (batch) => {
      const found = await Promise.all(
        dead.map(async (run) => ((await batch.row(removeDied, `runtime ${run.id}`, [run.id])).length > 0 ? [run] : [])),
      );
      const facts = found.flat().flatMap((run) => factsOf?.(run) ?? []);
      await Promise.all(facts.map((fact) => this.#events.insert(batch, { ...fact, at: wallNow })));
      return found.flat();
    });
    return died ?? [];
  }

  async #runs(): Promise<readonly RuntimeRow[]> {
    const text = `SELECT ${columns} FROM uw.runtime WHERE host = $1 ORDER BY started_at, id`;
    return ((await this.#database.read({ name: 'runtimes', text }, [this.#host])) ?? []).map(toRuntime);
  }
}

/** The run in a row. */
export function toRuntime(row: PgRow): RuntimeRow {
  return {
    id: String(row['id']),
    pid: Number(row['pid']),
    processStart: String(row['process_start']),
    startedAt: Number(row['started_at']),
    renewedAt: Number(row['renewed_at']),
    name: String(row['name']),
    socket: typeof row['socket'] === 'string' ? row['socket'] : undefined,
  };
}
