import type { Clock } from '../../src/policy/clock.ts';

/** Bounds on what is kept for clients whose stream was cut: of one session so many events, so many characters, for so long (in ms). */
const mostEvents = 1000;
const mostCharacters = 4 * 1024 * 1024;
const keptMs = 5 * 60_000;

interface KeptEvent {
  readonly stream: number;
  readonly number: number;
  readonly message: string;
  readonly at: number;
}

/** The last events of one session, in order; the oldest leave first. */
export class ReplayBuffer {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #emptied: (stream: number) => void;
  readonly #counts = new Map<number, number>();
  #events: KeptEvent[] = [];
  #characters = 0;

  /** @param emptied - told when nothing is kept of a stream any more. */
  constructor(clock: Pick<Clock, 'now'>, emptied: (stream: number) => void) {
    this.#clock = clock;
    this.#emptied = emptied;
  }

  keep(stream: number, number: number, message: string): void {
    this.#events.push({ stream, number, message, at: this.#clock.now() });
    this.#counts.set(stream, (this.#counts.get(stream) ?? 0) + 1);
    this.#characters += message.length;
    this.#forget();
  }

  /** Returns what is kept of a stream after this event. */
  after(stream: number, number: number): readonly KeptEvent[] {
    this.#forget();
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  #forget(): void {
    const oldest = this.#clock.now() - keptMs;
    let gone = 0;
    for (const { at, message } of this.#events) {
      if (at > oldest && this.#events.length - gone <= mostEvents && this.#characters <= mostCharacters) break;
      this.#characters -= message.length;
      gone++;
    }
    if (gone > 0) for (const { stream } of this.#events.splice(0, gone)) this.#leave(stream);
  }

  #leave(stream: number): void {
    const left = (this.#counts.get(stream) ?? 1) - 1;
    if (left > 0) {
      this.#counts.set(stream, left);
      return;
    }
    this.#counts.delete(stream);
    this.#emptied(stream);
  }
}
