/** Value that is loaded when it is needed. */
export interface Late<T> {
  /** Once it is loaded. */
  readonly value: T | undefined;
  /** Callers that ask during the load share it. After a failure the next caller tries again. */
  load(): Promise<T>;
}

export function loadedLater<T>(load: () => Promise<T>): Late<T> {
  let value: T | undefined;
  let loading: Promise<T> | undefined;

  async function attempt(): Promise<T> {
    try {
      value = await load();
      return value;
    } finally {
      loading = undefined;
    }
  }

  return {
    get value() {
      return value;
    },
    load: () => (value === undefined ? (loading ??= attempt()) : Promise.resolve(value)),
  };
}
