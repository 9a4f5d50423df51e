import type { Call } from './call.ts';
import type { DeadlineQueue } from './deadlineQueue.ts';
import type { MachineLink } from './machineLink.ts';
import type { Places } from './places.ts';
import type { Waiting } from './trouble.ts';

/** The accepted calls of an integration that have no attempt in flight, and what each of them waits for. */
export class Waits<I, O> {
  readonly #calls = new Set<Call<I, O>>();
  readonly #deadlines: DeadlineQueue;
  readonly #places: Places<Call<I, O>>;
  readonly #link: Pick<MachineLink, 'flushSoon'>;

  /** @param link - follows every change. */
  constructor(deadlines: DeadlineQueue, places: Places<Call<I, O>>, link: Pick<MachineLink, 'flushSoon'>) {
    this.#deadlines = deadlines;
    this.#places = places;
    this.#link = link;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Those that wait as of now, first come first; of a kind, or all. */
  list(waiting?: Waiting): readonly Call<I, O>[] {
    const all = [...this.#calls];
    return waiting === undefined ? all : all.filter((call) => call.waiting === waiting);
  }

  /** Lets a call wait until `due`, in monotonic ms; then it expires. */
  add(call: Call<I, O>, waiting: Waiting, due: number): void {
    if (waiting === 'place') this.#places.enqueue(call);
    const trouble = call.ownTrouble();
    trouble.waiting = waiting;
    trouble.accepted = true;
    this.#calls.add(call);
    call.due = Math.ceil(due);
    this.#deadlines.set(call);
    this.#link.flushSoon();
  }

  remove(call: Call<I, O>): void {
    const trouble = call.ownTrouble();
    if (trouble.waiting === 'place') this.#places.dequeue(call);
    trouble.waiting = undefined;
    this.#calls.delete(call);
    this.#deadlines.remove(call);
    this.#link.flushSoon();
  }
}
