import { existsSync } from 'node:fs';
import { neverOpened, type PersistedBreaker } from '../../policy/persistedBreaker.ts';
import { selectBreakers } from '../../store/breakerState.ts';
import { openReader } from '../../store/reader.ts';
import type { Store } from '../../store/store.ts';

/** What earlier runs left about a breaker that a run has to know. */
export interface KeptTroubles {
  /** Whether its circuit is open, or failures are counted. */
  readonly known: boolean;
  /** The same as of now: others may have failed meanwhile. */
  foundNow(): boolean;
  /** Ends the streak that was found last. */
  forget(store: Store | undefined): Promise<void>;
  close(): void;
}

/** Looks into the database, if there is one. What cannot be read is known to nobody; the store says so once it has to write. */
export async function keptTroubles(path: string, name: string): Promise<KeptTroubles> {
  const reader = existsSync(path) ? await openReader(path).catch(() => undefined) : undefined;
  let row: PersistedBreaker = neverOpened;
  const look = (): boolean => {
    try {
      row = (reader && selectBreakers(reader.database).get(name)) ?? neverOpened;
    } catch {
      row = neverOpened;
    }
    return row.state === 'open' || row.failures > 0;
  };
  return {
    known: look(),
    foundNow: () => look() && row.state === 'closed',
    async forget(store) {
      store?.breakers.saveFailures(name, row.generation, 0);
      await store?.flush();
    },
    close: () => reader?.close(),
  };
}
