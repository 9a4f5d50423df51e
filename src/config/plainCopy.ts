import { isPlainObject } from './layers.ts';

/** No configuration is as deep. */
const deepest = 50;

/**
 * A copy of plain objects and arrays, each getter and trap asked once; what else there is stays itself.
 * @throws whatever a getter or a trap throws.
 */
export function plainCopy(value: unknown): unknown {
  const copies = new Map<unknown, unknown>();
  const copy = (each: unknown, depth: number): unknown => {
    const known = copies.get(each);
    // A value that holds itself does so in the copy.
    if (known !== undefined || depth > deepest) return known;
    if (Array.isArray(each)) {
      const items: unknown[] = [];
      copies.set(each, items);
      for (const item of each as readonly unknown[]) items.push(copy(item, depth + 1));
      return items;
    }
    if (!isPlainObject(each)) return each;
    const fields: Record<string, unknown> = {};
    copies.set(each, fields);
    for (const [key, field] of Object.entries(each)) {
      const own = { value: copy(field, depth + 1), enumerable: true, writable: true, configurable: true };
      // An assignment to `__proto__` would change what the object is.
      Object.defineProperty(fields, key, own);
    }
    return fields;
  };
  return copy(value, 0);
}
