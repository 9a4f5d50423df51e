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
      // Of native promises it is the promise itself; what only looks like one may call back at once.
      Promise.resolve(answer).then(answered, threw);
      return;
    }
  } catch (error) {
    threw(error);
    return;
  }
  answered(answer);
}

/** Whether it answers later. What is asked for its `then` may throw. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
