import type { ChunkSource } from '../../streams/chunkSource.ts';

/** Reader that waits for the next bytes. */
interface Pull {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: unknown): void;
}

/**
 * The output of a run as a source: what was not asked for yet holds its pipe, so that a child whose reader is slow waits. It ends as the run
 * does, after the last bytes.
 */
export class OutputBytes implements ChunkSource<Uint8Array> {
  readonly #end: (reason: unknown) => void;
  readonly #chunks: Uint8Array[] = [];
  /** Lets the pipe flow again. */
  #goOn: (() => void) | undefined = undefined;
  #pull: Pull | undefined = undefined;
  #isLeft = false;
  #run: Promise<unknown> = Promise.resolve();
  #ended: { readonly error?: unknown } | undefined = undefined;

  /** @param end - ends the run, which nobody reads any more. */
  constructor(end: (reason: unknown) => void) {
    this.#end = end;
  }

  /** Ends with this run, and fails when it does. */
  follow(run: Promise<unknown>): void {
    this.#run = run.then(
      () => this.#runEnded({}),
      (error: unknown) => this.#runEnded({ error }),
    );
  }

  /** @returns what resolves when it was asked for; undefined when somebody waited for it. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#isLeft) return undefined;
    const pull = this.#pull;
    this.#pull = undefined;
    if (pull !== undefined) {
      pull.resolve({ done: false, value: chunk });
      return undefined;
    }
    this.#chunks.push(chunk);
    return new Promise((resolve) => {
      // Only one promise holds the pipe at a time; what comes after the exit of the child waits for none.
      const before = this.#goOn;
      this.#goOn = () => {
        before?.();
        resolve();
      };
    });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject };
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#pull = undefined;
        resolve({ done: false, value: chunk });
      } else this.#settle();
      if (this.#chunks.length === 0) this.#flow();
    });
  }

  /** Resolves when the run has ended, with everything below its process. */
  async cancel(reason: unknown): Promise<void> {
    this.#isLeft = true;
    this.#chunks.length = 0;
    this.#flow();
    this.#end(reason);
    await this.#run;
  }

  #runEnded(ended: { readonly error?: unknown }): void {
    this.#ended = ended;
    if (this.#chunks.length === 0) this.#settle();
  }

  #settle(): void {
    const [pull, ended] = [this.#pull, this.#ended];
    if (pull === undefined || ended === undefined) return;
    this.#pull = undefined;
    if ('error' in ended) pull.reject(ended.error);
    else pull.resolve({ done: true, value: undefined });
  }

  #flow(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }
}
