import type { MessageEntry } from './journalEntry.ts';

/** How often each message of a session was delivered, by what the database confirmed. */
export class Deliveries {
  readonly #counts = new Map<number, number>();
  /** Owners that have asked to put a message back before its handler had it, and have not heard of that: it may be so. */
  readonly #asking = new Map<number, number>();

  taken(message: number): void {
    this.#add(message, 1);
  }

  putBack({ message, token, begun, unheard }: MessageEntry): void {
    if (begun !== false) return;
    // It is noted as it is asked for, and again as its answer comes.
    if (this.#asking.get(message) !== token) this.#add(message, -1);
    if (unheard === true) this.#asking.set(message, token);
    else this.#asking.delete(message);
  }

  /** Those that are to be counted, at the least. */
  of(message: number): number {
    return this.#counts.get(message) ?? 0;
  }

  #add(message: number, more: number): void {
    this.#counts.set(message, this.of(message) + more);
  }
}
