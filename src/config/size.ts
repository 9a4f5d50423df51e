/** Longest text of a configuration file, in bytes. */
export const maxFileBytes = 1_048_576;
/** Most values of one source, lists and objects among them. */
const maxValues = 10_000;
/** Depth that they may lie at. */
const deepest = 50;
/** Problems that are told, and warnings; what is wrong beyond is counted. */
export const maxProblems = 100;

/** Why data is more than a configuration is; undefined when it is not. Takes no longer than its first {@link maxValues} values. */
export function excessOf(data: unknown): string | undefined {
  let level: readonly unknown[] = [data];
  // A value that holds itself is wrong, but not for its size.
  const seen = new Set<unknown>();
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return `is more than ${deepest} levels deep`;
    const inner: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null || seen.has(each)) continue;
      seen.add(each);
      const own: readonly unknown[] = Array.isArray(each) ? each : Object.values(each);
      values += own.length;
      if (values > maxValues) return `holds more than ${maxValues} values`;
      inner.push(...own);
    }
    level = inner;
  }
  return undefined;
}
