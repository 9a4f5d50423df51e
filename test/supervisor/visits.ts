const walks = ['values', 'keys', 'entries', 'forEach', Symbol.iterator] as const;

/**
 * Counts the entries of maps that are gone through while `work` runs: each walk counts all entries it could visit. Of work
 * that gives a promise, until that settles.
 */
export function visitsDuring(work: () => Promise<unknown>): Promise<number>;
export function visitsDuring(work: () => void): number;
export function visitsDuring(work: () => unknown): number | Promise<number> {
  let visits = 0;
  const originals = walks.map((name) => Object.getOwnPropertyDescriptor(Map.prototype, name) as PropertyDescriptor);
  for (const [index, name] of walks.entries()) {
    const original = originals[index]?.value as (...args: unknown[]) => unknown;
    Object.defineProperty(Map.prototype, name, {
      configurable: true,
      value(this: Map<unknown, unknown>, ...args: unknown[]) {
        visits += this.size;
        return original.apply(this, args);
      },
    });
  }
  const restore = (): number => {
    for (const [index, name] of walks.entries()) Object.defineProperty(Map.prototype, name, originals[index] ?? {});
    return visits;
  };
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    restore();
    throw error;
  }
  return result instanceof Promise ? result.finally(restore).then(() => visits) : restore();
}
