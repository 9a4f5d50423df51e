/** Has something run in a turn of the event loop to come. @defaultValue `setImmediate` */
type NextTurn = (callback: () => void) => void;

/**
 * Has processes started one in a turn of the event loop: a start holds the loop for as long as the system takes, and between two of them what is in
 * the pipes of the others is read.
 */
export class StartTurns {
  readonly #nextTurn: NextTurn;
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  constructor(nextTurn: NextTurn = setImmediate) {
    this.#nextTurn = nextTurn;
  }

  /** Runs it at once where nothing was started in this turn, else in its own. It must not throw. @returns how to take it back. */
  take(start: () => void): () => void {
    if (this.#isTaken) this.#waiting.add(start);
    else this.#run(start);
    return () => void this.#waiting.delete(start);
  }

  #run(start: () => void): void {
    this.#isTaken = true;
    // A whole turn: the one that runs may have read the pipes before.
    this.#nextTurn(() => this.#nextTurn(() => this.#next()));
    start();
  }

  #next(): void {
    this.#isTaken = false;
    const [start] = this.#waiting;
    if (start === undefined) return;
    this.#waiting.delete(start);
    this.#run(start);
  }
}

/** Turns of this process. */
export const startTurns = new StartTurns();
