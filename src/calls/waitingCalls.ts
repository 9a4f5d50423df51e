import type { Call } from './call.ts';
import type { Waiting } from './callTrail.ts';
import { overallHalfOf } from './limits.ts';
import type { DeadlineQueue } from './deadlineQueue.ts';
import type { EffectQueue } from './effectQueue.ts';

/** The accepted calls of an integration that have no attempt in flight, and what each of them waits for. */
export class WaitingCalls<I, O> {
  /** Calls that wait for a permit. */
  queued = 0;
  readonly #calls = new Set<Call<I, O>>();
  readonly #forPermit = new Set<Call<I, O>>();
  readonly #deadlines: DeadlineQueue;
  readonly #queue: EffectQueue;
  readonly #changed: () => void;

  /** @param queue - where those that follow calls are told. @param changed - told of every change. */
  constructor(deadlines: DeadlineQueue, queue: EffectQueue, changed: () => void) {
    this.#deadlines = deadlines;
    this.#queue = queue;
    this.#changed = changed;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The one that has waited longest for a permit. */
  nextForPermit(): Call<I, O> | undefined {
    for (const call of this.#forPermit) return call;
    return undefined;
  }

  /** Returns those that wait as of now, first come first; of a kind, or all. */
  list(waiting?: Waiting): readonly Call<I, O>[] {
    const all = [...this.#calls];
    return waiting === undefined ? all : all.filter((call) => call.waiting === waiting);
  }

  /** Lets a call wait until `due`, in monotonic ms; then it expires. */
  add(call: Call<I, O>, waiting: Waiting, due: number): void {
    if (waiting === 'permit') this.queued = this.#forPermit.add(call).size;
    const progress = call.ownProgress();
    progress.waiting = waiting;
    progress.accepted = true;
    const { trace } = progress;
    if (trace !== undefined) this.#queue.call(() => trace.waits(waiting), undefined);
    this.#calls.add(call);
    progress.waitUntil = Math.ceil(due);
    call.due = progress.isPendingTold ? progress.waitUntil : Math.ceil(Math.min(due, overallHalfOf(call)));
    this.#deadlines.set(call);
    this.#changed();
  }

  /** Its wait is over. Does nothing when it does not wait. */
  delete(call: Call<I, O>): void {
    if (call.waiting === undefined) return;
    const progress = call.ownProgress();
    if (progress.waiting === 'permit') this.#forPermit.delete(call);
    this.queued = this.#forPermit.size;
    if (progress.waiting === 'rate') progress.rate?.leave();
    call.noteStep(call.waiting);
    progress.waiting = undefined;
    this.#calls.delete(call);
    this.#deadlines.remove(call);
    this.#changed();
  }
}
