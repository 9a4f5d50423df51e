/** Moves on when a server that asked not to be called has answered before its time. */
export interface PauseWatcher {
  pauseEnded(): void;
}

/** The one call that an operator lets through to a server which asked not to be called: where it is answered, the pause is over. */
export class PauseProbe<A> {
  /** The attempt that tries the server. */
  attempt: A | undefined = undefined;
  #wantedUntil = Number.NEGATIVE_INFINITY;
  readonly #watcher: PauseWatcher;

  constructor(watcher: PauseWatcher) {
    this.#watcher = watcher;
  }

  /** Tells whether the next call may be it. @param now - monotonic time in ms. */
  isWanted(now: number): boolean {
    return now < this.#wantedUntil;
  }

  /** Lets one call through that comes before `until`. */
  want(until: number): void {
    this.#wantedUntil = until;
  }

  /** An attempt begins while the server is not to be called. */
  begun(attempt: A): void {
    this.#wantedUntil = Number.NEGATIVE_INFINITY;
    this.attempt = attempt;
  }

  /** The attempt has ended. @param isAnswered - the server answered, and did not ask for a pause. */
  ended(isAnswered: boolean): void {
    this.attempt = undefined;
    if (isAnswered) this.#watcher.pauseEnded();
  }
}
