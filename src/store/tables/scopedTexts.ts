import { insertInto, statement } from '../dialect.ts';
import { step, type Tables, type Work } from '../work.ts';

const order = { rank: 5 };
const kept = 'scope text, memory text, updated_at bigint';
/** Scopes that are kept at most, and the time after which one is forgotten that was not changed, in ms. */
const mostScopes = 1000;
const forgetMs = 7 * 24 * 3_600_000;

/** The statements on a table of texts by scope. A row that is there can be locked; a file is locked as it is. */
function statementsOf(table: 'spinning' | 'definition') {
  const set = 'ON CONFLICT (scope) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at';
  return {
    enter: statement(
      `enter_${table}`,
      'scope text, updated_at bigint',
      `{INSERT INTO uw.${table} (scope, updated_at) SELECT scope, updated_at FROM w ORDER BY scope ON CONFLICT DO NOTHING|}`,
      order,
    ),
    lock: statement(
      `lock_${table}`,
      'scope text',
      `SELECT {w.ord, |}s.memory FROM {w, |}uw.${table} s WHERE s.scope = :scope {ORDER BY s.scope FOR UPDATE OF s|}`,
      order,
    ),
    keep: statement(`keep_${table}`, kept, insertInto(`uw.${table}`, kept, set, 'scope'), order),
  };
}

/** In a file, to which also processes write that delete nothing else; a server has nodes that do. */
const forget = statement(
  'forget_spinning',
  'before bigint',
  `{|DELETE FROM uw.spinning WHERE updated_at < :before
     OR updated_at < (SELECT updated_at FROM uw.spinning ORDER BY updated_at DESC LIMIT 1 OFFSET ${mostScopes - 1})}`,
);

/** Texts by scope that outlive a process, such as watches of repetition, of all processes that share the store. Nothing here throws. */
export interface ScopedTexts {
  /**
   * Changes what is kept of a scope, in one transaction: what two processes add at once adds up.
   * @param wallNow - wall time in ms.
   * @param change - gives what is to be kept, if any; is called again where the commit fails.
   * @returns undefined while the store cannot do it now.
   */
  change<T>(
    scope: string,
    wallNow: number,
    change: (memory: string | undefined) => { readonly memory?: string; readonly result: T },
  ): Promise<T | undefined>;
}

export function scopedTexts(tables: Pick<Tables, 'transact'>, table: 'spinning' | 'definition'): ScopedTexts {
  const { enter, lock, keep } = statementsOf(table);
  let last: Promise<unknown> = Promise.resolve();
  return {
    change(scope, wallNow, change) {
      const key = `${table} ${scope}`;
      const work = function* (): Work<ReturnType<typeof change>['result']> {
        yield step(enter, key, { scope, updatedAt: wallNow });
        const [{ memory: known } = {}] = yield step(lock, key, { scope });
        const { memory, result } = change(typeof known === 'string' ? known : undefined);
        if (memory !== undefined) yield step(keep, key, { scope, memory, updatedAt: wallNow });
        if (typeof known !== 'string' && table === 'spinning')
          yield step(forget, 'old spinning', { before: wallNow - forgetMs });
        return result;
      };
      // One after the other: two of one batch of a server would read the same.
      const done = last.then(() => tables.transact(work));
      last = done;
      return done;
    },
  };
}

export function memoryTexts(): ScopedTexts {
  const scopes = new Map<string, string>();
  return {
    async change(scope, _, change) {
      const { memory, result } = change(scopes.get(scope));
      if (memory !== undefined && (scopes.has(scope) || scopes.size < mostScopes)) scopes.set(scope, memory);
      return result;
    },
  };
}
