import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ListChange } from '../changes.ts';
import type { AlertLine, BulkLine, IntegrationLine, RuntimeLine, SessionLine, Wait } from '../snapshot.ts';

interface Keyed {
  readonly key: string;
}

/** A list whose rows change one by one: what shows one row is drawn again only when that row changes. */
class Rows<R extends Keyed> {
  readonly #rows = new Map<string, Signal<R>>();
  readonly #keys = signal<readonly string[]>([]);

  /** All rows, in no order. Whoever reads it is told of each change. */
  readonly all: ReadonlySignal<readonly R[]> = computed(() =>
    this.#keys.value.flatMap((key) => this.#rows.get(key)?.value ?? []),
  );

  /** A row; undefined when there is none of this key. */
  row(key: string): R | undefined {
    return this.#rows.get(key)?.value ?? (this.#keys.value, undefined);
  }

  replace(rows: readonly R[]): void {
    const known = new Set(rows.map(({ key }) => key));
    this.apply({ put: rows, gone: [...this.#rows.keys()].filter((key) => !known.has(key)) });
  }

  apply({ put, gone }: ListChange): void {
    batch(() => {
      let moved = gone.length > 0;
      for (const key of gone) this.#rows.delete(key);
      for (const row of put as readonly R[]) {
        const known = this.#rows.get(row.key);
        if (known === undefined) {
          this.#rows.set(row.key, signal(row));
          moved = true;
        } else known.value = row;
      }
      if (moved) this.#keys.value = [...this.#rows.keys()];
    });
  }
}

/** The lists of the last snapshot. */
export const tables = {
  runtimes: new Rows<RuntimeLine>(),
  integrations: new Rows<IntegrationLine>(),
  sessions: new Rows<SessionLine>(),
  waits: new Rows<Wait>(),
  alerts: new Rows<AlertLine>(),
  bulks: new Rows<BulkLine>(),
};
