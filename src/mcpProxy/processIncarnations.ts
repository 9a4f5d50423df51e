import type { Incarnations } from '../calls/callPathOptions.ts';

/** The processes of a server, one after another. One whose end nobody told of is not known to be gone. */
export class ProcessIncarnations implements Incarnations {
  /** Incarnations that may be at work. */
  readonly #alive = new Set<number>();
  #last = 0;

  get current(): number | undefined {
    return this.#last === 0 ? undefined : this.#last;
  }

  isGone(incarnation: number | undefined): boolean {
    return incarnation !== undefined && incarnation <= this.#last && !this.#alive.has(incarnation);
  }

  /** Begins one. @returns its number. */
  begins(): number {
    this.#last++;
    this.#alive.add(this.#last);
    return this.#last;
  }

  /** Nothing is left of one. @returns whether that is news. */
  ended(incarnation: number): boolean {
    return this.#alive.delete(incarnation);
  }
}
