/** Entries added before the table is made anew; as many as there are, where those are more. */
const fewestAdded = 512;

/**
 * A Map for entries that come and go for as long as the process lives, such as requests by their id.
 *
 * A Map that grows moves to a new table, and V8 keeps a link from the old table to the new one. Once an old table is in the old
 * generation, the minor collector takes all later tables for alive, with their entries. So from the first full collection on, no
 * entry is freed before the next full collection. A new Map from time to time ends the chain.
 */
export class TurnoverMap<K, V> {
  #map = new Map<K, V>();
  #added = 0;

  get size(): number {
    return this.#map.size;
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    if (++this.#added > fewestAdded && this.#added > this.#map.size) {
      this.#map = new Map(this.#map);
      this.#added = 0;
    }
    this.#map.set(key, value);
  }

  /** @returns whether it was there. */
  delete(key: K): boolean {
    return this.#map.delete(key);
  }

  /** In the order they were added. What changes while they are read may or may not show. */
  values(): Iterable<V> {
    return this.#map.values();
  }
}
