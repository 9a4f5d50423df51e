/** Sets a key as the newest of a map, whose oldest goes where it has more than `most`. */
export function keepNewest<K, T>(map: Map<K, T>, key: K, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as K);
}
