/**
 * Runs what may answer at once, later, or never, and tells how it ended. Neither callback must throw. What answers at once is told
 * at once; a promise whose `then` is of somebody else's making may tell more than once.
 */
export function observe<T>(
  run: () => T | PromiseLike<T>,
  answered: (value: T) => void,
  threw: (error: unknown) => void,
): void {
  let answer: T | PromiseLike<T>;
  try {
    answer = run();
    if (isThenable(answer)) {
      // A native promise comes back as itself; a value that only looks like one may call back at once.
      Promise.resolve(answer).then(answered, threw);
      return;
    }
  } catch (error) {
    threw(error);
    return;
  }
  answered(answer);
}

/** Tells whether it answers later. A value that is asked for its `then` may throw. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
