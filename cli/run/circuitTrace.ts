import type { PersistedBreaker } from '../../src/policy/persistedBreaker.ts';
import type { Store } from '../../src/store/store.ts';
import { hookMarker } from '../hook/hookMarker.ts';

/** Trace of failures or of an open circuit that earlier runs left, told without opening the database. */
export interface CircuitTrace {
  isThere(): boolean;
  /**
   * Ends the failures in a row that others counted while this run went well, and brings the trace up to date with what is kept.
   * Looks again after it is removed: a run that failed at that moment must not be forgotten.
   * @param wentWell - whether the run was an answer.
   */
  update(store: Store | undefined, wentWell: boolean): void;
}

/** @param database - its absolute path, or `:memory:`: then nothing is kept. */
export function circuitTrace(database: string, name: string): CircuitTrace {
  const marker = hookMarker(database, name, 'run');
  const isKept = database !== ':memory:';
  return {
    isThere: () => isKept && marker.isThere(),
    update(store, wentWell) {
      if (store === undefined || !isKept) return;
      const row = store.breakers.load(name);
      if (row === undefined) return;
      if (wentWell && row.state === 'closed' && row.failures > 0) {
        store.breakers.saveFailures(name, row.generation, 0);
        marker.remove();
      } else if (isTroubled(row)) marker.leave();
      else {
        marker.remove();
        if (isTroubled(store.breakers.load(name))) marker.leave();
      }
    },
  };
}

function isTroubled(row: PersistedBreaker | undefined): boolean {
  return row !== undefined && (row.state === 'open' || row.failures > 0);
}
