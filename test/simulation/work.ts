import type { AttemptContext } from '../../src/calls/operation.ts';
import type { Clock } from '../../src/policy/clock.ts';
import type { Fault } from './faults.ts';

/** How work ends. */
export type Ending = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly fault: Fault };

/** What an operation hands back: a promise, or something that only looks like one. */
export type Shape = 'promise' | 'thenable' | 'twice' | 'throwing' | 'odd';

/** What one attempt will do. */
export interface Plan {
  /** When it ends: before it returns, in the same turn, after some ms, or only when somebody makes it. */
  readonly when: 'at once' | 'soon' | 'never' | number;
  readonly ending: Ending;
  readonly shape: Shape;
  /** A second ending, right after the first: it must change nothing. */
  readonly again: Ending | undefined;
  /** What it does when it is told to end: so at once, after some ms, or nothing. */
  readonly onAbort: 'end' | 'ignore' | number;
  /** Signs of life, every so many ms, this many times. */
  readonly touches: { readonly everyMs: number; readonly times: number } | undefined;
}

/** Who keeps the books of the work. Both are called right before the runtime does its own. */
export interface WorkBooks {
  ended(work: Work, ending: Ending): void;
  aborted(work: Work, reason: unknown): void;
}

/** The work of one attempt, as the other side sees it. */
export class Work {
  endedAt: number | undefined = undefined;
  abortedAt: number | undefined = undefined;
  writtenOff = false;
  lastSignAt: number;
  readonly startedAt: number;
  readonly plan: Plan;
  readonly context: AttemptContext;
  readonly #clock: Clock;
  readonly #books: WorkBooks;
  #deliver: ((ending: Ending) => void) | undefined = undefined;
  #ending: Ending | undefined = undefined;

  constructor(plan: Plan, context: AttemptContext, clock: Clock, books: WorkBooks) {
    this.plan = plan;
    this.context = context;
    this.#clock = clock;
    this.#books = books;
    this.startedAt = clock.now();
    this.lastSignAt = this.startedAt;
  }

  get inFlight(): boolean {
    return this.endedAt === undefined && this.abortedAt === undefined;
  }

  /** Listens for the abort; done before anything else, as the signal is aborted in the runtime's own step. */
  watch(): void {
    const { signal } = this.context;
    const aborted = (): void => {
      this.abortedAt = this.#clock.now();
      this.#books.aborted(this, signal.reason);
      const { onAbort } = this.plan;
      if (onAbort === 'ignore') return;
      const left: Ending = { ok: false, fault: { thrown: signal.reason, kind: 'cancelled', outcome: 'cancelled' } };
      if (onAbort === 'end') this.end(left);
      else this.#clock.setTimeout(() => this.end(this.plan.ending), onAbort);
    };
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  }

  /** Runs the plan; what this returns or throws is what the operation does. */
  run(): unknown {
    const { when, ending, touches } = this.plan;
    if (when === 'at once') {
      this.#heard(ending);
      if (ending.ok) return ending.value;
      throw ending.fault.thrown;
    }
    if (typeof when === 'number') this.#clock.setTimeout(() => this.end(ending), when);
    if (touches !== undefined) this.#touch(touches.everyMs, touches.times);
    const answer = this.#answer();
    if (when === 'soon') this.end(ending);
    return answer;
  }

  /** Ends the work; of several endings the first counts. */
  end(ending: Ending): void {
    if (this.#ending !== undefined || this.endedAt !== undefined) return;
    this.#ending = ending;
    this.#deliver?.(ending);
  }

  #touch(everyMs: number, left: number): void {
    if (left === 0) return;
    this.#clock.setTimeout(() => {
      if (!this.inFlight) return;
      this.lastSignAt = this.#clock.now();
      this.context.touch();
      this.#touch(everyMs, left - 1);
    }, everyMs);
  }

  #heard(ending: Ending): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = this.#clock.now();
    this.#books.ended(this, ending);
  }

  #answer(): unknown {
    const { shape } = this.plan;
    if (shape === 'promise') return this.#promise();
    const thenable = {
      then: (resolve: (value: unknown) => void, reject: (thrown: unknown) => void): void => {
        this.#deliver = (ending) => {
          // The runtime hears of it in a microtask of its own; this one comes right before it.
          if (shape === 'odd') this.#heard(ending);
          else queueMicrotask(() => this.#heard(ending));
          this.#call(ending, resolve, reject);
          if (shape !== 'thenable') this.#call(this.plan.again ?? ending, resolve, reject);
        };
        if (shape === 'throwing' && !this.plan.ending.ok) this.#ending ??= this.plan.ending;
        if (this.#ending === undefined) return;
        this.#deliver(this.#ending);
        if (shape === 'throwing' && !this.#ending.ok) throw this.#ending.fault.thrown;
      },
    };
    // A Promise with a `then` of its own is called back by nobody but itself.
    return shape === 'odd' ? Object.assign(new Promise<never>(() => undefined), thenable) : thenable;
  }

  #promise(): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      this.#deliver = (ending) => {
        this.#call(ending, resolve, reject);
        if (this.plan.again !== undefined) this.#call(this.plan.again, resolve, reject);
      };
      // It was told to end before it had begun to wait.
      if (this.#ending !== undefined) this.#deliver(this.#ending);
    });
    const heard = (): void => {
      if (this.#ending !== undefined) this.#heard(this.#ending);
    };
    promise.then(heard, heard);
    return promise;
  }

  #call(ending: Ending, resolve: (value: unknown) => void, reject: (thrown: unknown) => void): void {
    if (ending.ok) resolve(ending.value);
    else reject(ending.fault.thrown);
  }
}
