/** A source that the test feeds: what is asked for is answered when the test says so. */
export class ScriptedSource<C> implements AsyncIterable<C> {
  /** How often a chunk was asked for. */
  asked = 0;
  /** Whether it was told that nobody reads on. */
  cancelled = false;
  /** It never lets go. */
  clings = false;
  #waiting: { resolve(result: IteratorResult<C, undefined>): void; reject(error: unknown): void } | undefined;

  [Symbol.asyncIterator](): AsyncIterator<C, undefined> {
    return {
      next: () => {
        this.asked++;
        return new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject };
        });
      },
      return: async () => {
        this.cancelled = true;
        if (this.clings) await new Promise(() => undefined);
        return { done: true, value: undefined };
      },
    };
  }

  give(value: C): void {
    this.#waiting?.resolve({ done: false, value });
  }

  end(): void {
    this.#waiting?.resolve({ done: true, value: undefined });
  }

  fail(error: unknown): void {
    this.#waiting?.reject(error);
  }
}
