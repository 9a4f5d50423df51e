/** Tally of the messages of one session. */
export interface MessageTally {
  readonly sent: number;
  /** Heartbeats among them. */
  readonly heartbeats: number;
  /** Heartbeats that were sent while a call of the session was being retried. */
  readonly duringRetries: number;
}

/**
 * Follows the messages of one session, each by a number that grows in the order of sending: none may overtake another, get lost, or
 * be processed while a retry is on.
 */
export class MessageLog {
  #sent = 0;
  #processed = 0;
  #heartbeats = 0;
  #duringRetries = 0;
  #heartbeatsProcessed = 0;
  #retrying = false;
  readonly #problems: string[] = [];

  get tally(): MessageTally {
    return { sent: this.#sent, heartbeats: this.#heartbeats, duringRetries: this.#duringRetries };
  }

  get heartbeatsProcessed(): number {
    return this.#heartbeatsProcessed;
  }

  /** The number of the message that is sent now. */
  send(kind: 'heartbeat' | 'user'): number {
    if (kind === 'heartbeat') {
      this.#heartbeats++;
      if (this.#retrying) this.#duringRetries++;
    }
    return ++this.#sent;
  }

  /** The session took a message. */
  took(kind: string, number: number): void {
    if (number !== this.#processed + 1)
      this.#problems.push(`message ${number} was processed after message ${this.#processed}`);
    else if (this.#retrying) this.#problems.push(`message ${number} was processed during a retry`);
    this.#processed = number;
    if (kind === 'heartbeat') this.#heartbeatsProcessed++;
  }

  /** A call of the session is tried again. */
  retrying(): void {
    this.#retrying = true;
  }

  /** The turn with the call is over. */
  turnEnded(): void {
    this.#retrying = false;
  }

  /** Problems up to now, when everything sent should have been processed. */
  get problems(): readonly string[] {
    const lost = this.#sent - this.#processed;
    return lost === 0 ? this.#problems : [...this.#problems, `${lost} of ${this.#sent} messages were not processed`];
  }
}
