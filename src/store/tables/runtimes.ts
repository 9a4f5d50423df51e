import { hostname } from 'node:os';
import type { ProcessWorld } from '../../actors/process/processIdentity.ts';
import type { Fact } from '../../policy/facts/facts.ts';
import { namesOf, type Row, statement } from '../dialect.ts';
import { fromJson, toJson } from '../../policy/text/storedJson.ts';
import { judgeRuntimes, type OpenCall, type RuntimeRow, type Runtimes } from '../runtimes.ts';
import { all, type RowStep, type Step, step, type Tables, type Work } from '../work.ts';

const columns = `id text, pid integer, process_start text, started_at bigint, renewed_at bigint, name text, socket text`;
const names = namesOf(columns);

/** Runs, the oldest first: on a server those of one machine. */
export const runs = statement(
  'runtimes',
  'host text',
  `SELECT {${names}|*} FROM uw.runtime {WHERE host = :host|} ORDER BY started_at, id`,
);
/** A single one. */
export const runById = statement('runtime', 'id text', `SELECT {${names}|*} FROM uw.runtime WHERE id = :id`);
const upsert = statement(
  'upsert_runtime',
  `host text, ${columns}, calls text`,
  `INSERT INTO uw.runtime (${names}, {host|calls})
   {SELECT ${names}, host FROM w|VALUES (:id, :pid, :process_start, :started_at, :renewed_at, :name, :socket, :calls)}
   ON CONFLICT (id) DO UPDATE SET renewed_at = excluded.renewed_at, socket = excluded.socket,
     {seen_at = clock_timestamp()|calls = excluded.calls}`,
);
const remove = statement('delete_runtime', 'id text', 'DELETE FROM uw.runtime AS r {USING w |}WHERE r.id = :id');
/** Takes a run off, unless messages or calls wait of sessions that it owns: no other has claimed them. */
const removeDied = statement(
  'delete_died_runtime',
  'id text, has_left boolean',
  `DELETE FROM uw.runtime AS r {USING w |}
   WHERE r.id = :id AND (:has_left OR NOT EXISTS (SELECT 1 FROM uw.lease l WHERE l.owner = :id AND (
     EXISTS (SELECT 1 FROM uw.message m WHERE m.session = l.{key|id} AND m.state IN ('waiting', 'taken'))
     OR EXISTS (SELECT 1 FROM uw.call c WHERE c.session = l.{key|id} AND c.state = 'pending'))))
   RETURNING {w.ord|id}`,
);

/** Work of an engine beside its runs. Nothing here throws. */
export interface BesideRuns {
  /** Steps that go with the row of a run that is entered. */
  entered?(): readonly Step[];
  /** Told of a run that leaves, before it is taken off. */
  leaves?(id: string): void;
  /** Steps that go with taking it off. */
  left?(id: string): readonly Step[];
  /** It is taken off. */
  gone?(id: string): void;
  /** Tells whether a run has left without being taken off, and with what is to be written then. */
  has?(id: string): boolean;
  settle?(id: string): readonly Step[];
  /** Such a run is off at last. */
  forget?(id: string): void;
  /** A run could not be taken off before the end of the store. */
  mark?(id: string): void;
}

/** Runs of a store, by machine where several share it: nobody can judge a process of another one. */
export class KeptRuntimes implements Runtimes {
  readonly #tables: Tables;
  readonly #beside: BesideRuns;
  readonly #host = hostname();
  /** Runs as they were entered last, until they have left. */
  readonly #latest = new Map<string, RuntimeRow>();
  /** Rows that are to be entered and are not committed; a store that is degraded for long gets one write for each, not one a minute. */
  readonly #pending = new Set<string>();
  /** Runs that are to be taken off, until that is committed. */
  readonly #leaving = new Set<string>();

  constructor(tables: Tables, beside: BesideRuns = {}) {
    this.#tables = tables;
    this.#beside = beside;
    tables.carries?.(() => [...this.#latest.values()].map((run) => this.#entry(run)));
  }

  /** Name of a run that was entered here. */
  nameOf(id: string): string {
    return this.#latest.get(id)?.name ?? '';
  }

  enter(run: RuntimeRow): void {
    const { id } = run;
    this.#latest.set(id, run);
    if (this.#pending.has(id)) return;
    this.#pending.add(id);
    let entered = run;
    const entry = (): RowStep => {
      entered = this.#latest.get(id) ?? run;
      return this.#entry(entered);
    };
    const beside = this.#beside;
    this.#tables.write(
      function* () {
        yield entry();
        yield* beside.entered?.() ?? [];
      },
      () => {
        this.#pending.delete(id);
        const latest = this.#latest.get(id) ?? entered;
        if (latest !== entered && !this.#leaving.has(id)) this.enter(latest);
      },
    );
  }

  leave(id: string): void {
    const beside = this.#beside;
    this.#leaving.add(id);
    beside.leaves?.(id);
    this.#tables.write(
      function* () {
        yield step(remove, keyOf(id), { id });
        yield* beside.left?.(id) ?? [];
      },
      () => {
        this.#leaving.delete(id);
        this.#latest.delete(id);
        beside.gone?.(id);
      },
    );
  }

  async pids(): Promise<readonly number[]> {
    return (await this.#runs()).map(({ pid }) => pid);
  }

  async removeDead(
    world: ProcessWorld,
    wallNow: number,
    factsOf?: (run: RuntimeRow) => readonly Fact[],
  ): Promise<readonly RuntimeRow[]> {
    const beside = this.#beside;
    const isLeft = (id: string): boolean => beside.has?.(id) === true;
    const dead = judgeRuntimes(await this.#runs(), world, wallNow).filter(
      ({ id, liveness }) => liveness === 'dead' || isLeft(id),
    );
    if (dead.length === 0) return [];
    const died = await this.#tables.transact(function* () {
      const found = yield* all(
        dead.map(function* (run): Work<readonly RuntimeRow[]> {
          const { id } = run;
          const hasLeft = isLeft(id);
          yield* beside.settle?.(id) ?? [];
          // Whoever looks at the store, what waits for its gateway is told of until one takes it over.
          const removed = yield step(removeDied, keyOf(id), { id, hasLeft });
          // Another one may have been faster; and one that has left in good order did not die.
          return removed.length > 0 && !hasLeft ? [run] : [];
        }),
      );
      for (const run of found.flat()) {
        for (const fact of factsOf?.(run) ?? []) yield { fact: { ...fact, at: wallNow } };
      }
      return found.flat();
    });
    if (died === undefined) return [];
    for (const { id } of dead) beside.forget?.(id);
    return died;
  }

  /** The store is closed. */
  closed(): void {
    for (const id of this.#leaving) this.#beside.mark?.(id);
  }

  #entry(run: RuntimeRow): RowStep {
    const { calls = [], socket } = run;
    const row = { ...run, socket, host: this.#host, calls: calls.length === 0 ? null : toJson(calls) };
    return step(upsert, keyOf(run.id), row);
  }

  async #runs(): Promise<readonly RuntimeRow[]> {
    return (await this.#tables.read(runs, { host: this.#host })).map(runIn);
  }
}

const keyOf = (id: string): string => `runtime ${id}`;

/** The run in a row. */
export function runIn(row: Row): RuntimeRow {
  return {
    id: String(row['id']),
    pid: Number(row['pid']),
    processStart: String(row['process_start']),
    startedAt: Number(row['started_at']),
    renewedAt: Number(row['renewed_at']),
    name: String(row['name']),
    socket: typeof row['socket'] === 'string' ? row['socket'] : undefined,
    ...('calls' in row && { calls: typeof row['calls'] === 'string' ? callsIn(row['calls']) : undefined }),
  };
}

/** None where they were not written by this version. */
function callsIn(json: string): readonly OpenCall[] {
  const calls = fromJson(json)?.value;
  return Array.isArray(calls) ? calls.filter(isOpenCall) : [];
}

function isOpenCall(value: unknown): value is OpenCall {
  if (typeof value !== 'object' || value === null) return false;
  const { integration, call, tool, startedAt } = value as Readonly<Record<string, unknown>>;
  return [integration, call, tool].every((field) => typeof field === 'string') && Number.isFinite(startedAt);
}
