import type { Clock, Timer } from '../src/policy/face.ts';

/** Parts of a heartbeat for a client that may have nothing else to read. */
interface HeartbeatParts {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Sends a beat. @returns false when the client does not take more now. */
  readonly beat: () => boolean;
  /** The client has taken nothing for {@link silentBeats} beats. */
  readonly stalled: () => void;
}

/** Beats that a client may fail to take in a row before it counts as gone. */
const silentBeats = 4;

/** Beats until it is stopped. A network that fails without a word is only noticed by what is not taken. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #timer: Timer | undefined;
  #refused = 0;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#arm();
  }

  /** The client took something. */
  taken(): void {
    this.#refused = 0;
  }

  stop(): void {
    this.#parts.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#parts.clock.setTimeout(() => this.#due(), this.#parts.everyMs);
  }

  #due(): void {
    this.#refused = this.#parts.beat() ? 0 : this.#refused + 1;
    if (this.#refused < silentBeats) this.#arm();
    else this.#parts.stalled();
  }
}
