import type { FailureFacts } from '../policy/failures/failure.ts';

/** Comeback of a server that is gone. */
export interface Comeback {
  /** Time in ms from now until it is started again; absent while it starts, and where nothing starts it. */
  readonly inMs?: number | undefined;
  /** An operator has ordered it. @defaultValue false */
  readonly ordered?: true | undefined;
}

/** Crash of an integration: its server is gone, or more attempts were abandoned than may be replaced. */
export class Outage {
  /** A restart takes it back into service, or the end of work that was abandoned. */
  overwhelmed = false;
  #since = 0;
  #told = false;
  /** The server ended as it was to: neither that nor its coming back is told. One that an operator ended is told as that elsewhere. */
  #quiet = false;
  #last: FailureFacts | undefined = undefined;

  /** Facts that ended the server, while it is gone. */
  get last(): FailureFacts | undefined {
    return this.#last;
  }

  /** The server has yet to start. @param isFirst - a first start is no restart. */
  startsDown(now: number, isFirst: boolean): void {
    this.#since = now;
    this.#quiet = isFirst;
  }

  /**
   * The server is gone.
   * @param isNew - it was there until now.
   * @returns what is told of that.
   */
  begin(facts: FailureFacts, quietly: boolean, isNew: boolean, now: number): 'crashed' | 'restart_failed' | 'nothing' {
    if (isNew) this.#since = now;
    this.#last = facts;
    const wasTold = this.#told;
    const isTold = !quietly && facts.reason !== 'restarted';
    this.#quiet = quietly && !wasTold;
    this.#told ||= isTold;
    if (!isTold) return 'nothing';
    return wasTold ? 'restart_failed' : 'crashed';
  }

  /** It is back. @returns since when it was gone, in monotonic ms, and whether neither that nor its end is told. */
  end() {
    const ended = { since: this.#since, quiet: this.#quiet };
    this.overwhelmed = false;
    this.#told = false;
    this.#quiet = false;
    this.#last = undefined;
    return ended;
  }
}
