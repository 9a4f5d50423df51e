import { insertInto, statement } from '../dialect.ts';
import { step, type Tables, type Work } from '../work.ts';

const order = { rank: 5 };
const kept = 'scope text, memory text, updated_at bigint';
/** Scopes that are kept at most. */
const mostScopes = 1000;
/** A scope that was not changed for so long is forgotten, in ms. */
const forgetMs = 7 * 24 * 3_600_000;

/** A row that is there can be locked; a file is locked as it is. */
const enter = statement(
  'enter_spinning',
  'scope text, updated_at bigint',
  `{INSERT INTO uw.spinning (scope, updated_at) SELECT scope, updated_at FROM w ORDER BY scope ON CONFLICT DO NOTHING|}`,
  order,
);
const lock = statement(
  'lock_spinning',
  'scope text',
  `SELECT {w.ord, |}s.memory FROM {w, |}uw.spinning s WHERE s.scope = :scope {ORDER BY s.scope FOR UPDATE OF s|}`,
  order,
);
const set = 'ON CONFLICT (scope) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at';
const keep = statement('keep_spinning', kept, insertInto('uw.spinning', kept, set, 'scope'), order);
/** In a file, to which also processes write that delete nothing else; a server has nodes that do. */
const forget = statement(
  'forget_spinning',
  'before bigint',
  `{|DELETE FROM uw.spinning WHERE updated_at < :before
     OR updated_at < (SELECT updated_at FROM uw.spinning ORDER BY updated_at DESC LIMIT 1 OFFSET ${mostScopes - 1})}`,
);

/** Watches of repetition that outlive a process, by what is told apart, of all processes that share the store. Nothing here throws. */
export interface SpinningRecords {
  /**
   * Reads what is kept of a scope, and writes what comes of it, in one transaction: what two processes add at once adds up.
   * @param wallNow - wall time in ms.
   * @param change - gives what is to be kept, if any; is called again where the commit fails.
   * @returns undefined while the store cannot do it now.
   */
  change<T>(scope: string, wallNow: number, change: SpinningChange<T>): Promise<T | undefined>;
}

export type SpinningChange<T> = (memory: string | undefined) => { readonly memory?: string; readonly result: T };

/** The same in the tables of a store. */
export class SpinningRows implements SpinningRecords {
  readonly #tables: Pick<Tables, 'transact'>;
  /** One after the other: two of one batch of a server would read the same. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(tables: Pick<Tables, 'transact'>) {
    this.#tables = tables;
  }

  change<T>(scope: string, wallNow: number, change: SpinningChange<T>): Promise<T | undefined> {
    const done = this.#last.then(() => this.#tables.transact(() => changed(scope, wallNow, change)));
    this.#last = done;
    return done;
  }
}

function* changed<T>(scope: string, wallNow: number, change: SpinningChange<T>): Work<T> {
  const key = `spinning ${scope}`;
  yield step(enter, key, { scope, updatedAt: wallNow });
  const [row] = yield step(lock, key, { scope });
  const known = typeof row?.['memory'] === 'string' ? row['memory'] : undefined;
  const { memory, result } = change(known);
  if (memory !== undefined) yield step(keep, key, { scope, memory, updatedAt: wallNow });
  if (memory !== undefined && known === undefined) yield step(forget, 'old spinning', { before: wallNow - forgetMs });
  return result;
}

/** The same in memory. */
export function memorySpinning(): SpinningRecords {
  const scopes = new Map<string, string>();
  return {
    async change(scope, _, change) {
      const { memory, result } = change(scopes.get(scope));
      if (memory !== undefined && (scopes.has(scope) || scopes.size < mostScopes)) scopes.set(scope, memory);
      return result;
    },
  };
}
