/** Whether a value is to be awaited: a promise, or anything with a `then`. Throws what a `then` that is a getter throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
