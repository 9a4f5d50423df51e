import type { Fact, Facts, FactType } from '../../policy/facts/facts.ts';

/** The array of slots is kept for the next step up to this length; only a crash with thousands of calls makes a longer one. */
const mostKept = 3072;

/** A slot that is not in use holds nothing alive. */
const nothing = (): void => undefined;

type Run = (what: never) => void;

/**
 * Queue of all that a call path tells others, run to completion: facts, settlements, aborts and the start of work are queued while a step changes the state,
 * and run when the outermost step ends, in the same turn. So nobody hears anything in the middle of a step, and a listener that calls back finds a state that
 * is complete.
 *
 * Where new entries go: a listener that calls back adds its own at the end of the queue; a further step of the path adds its own in front
 * of the entries that are left, so that the facts of one decision stay together.
 */
export class EffectQueue implements Facts {
  /** True while no step is under way, and nothing is left to run. Written here alone. */
  isIdle = true;
  readonly #facts: Facts;
  // Three slots each: whether it is a step of the path, what to run, and what with.
  readonly #slots: unknown[] = [];
  #next = 0;
  #end = 0;
  /** Steps under way, one inside the other. */
  #depth = 0;
  #running = false;
  readonly #tell = (fact: Fact): void => this.#facts.tell(fact);

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Makes a change of the state as one step, whatever is thrown in it. */
  change<T>(run: () => T): T {
    this.enter();
    try {
      return run();
    } finally {
      this.leave();
    }
  }

  /** A step begins; {@link leave} must follow. */
  enter(): void {
    this.#depth++;
    this.isIdle = false;
  }

  /** The step is complete: when it was the outermost one, what it queued is run. */
  leave(): void {
    if (--this.#depth > 0 || this.#running) return;
    if (this.#next === this.#end) this.isIdle = true;
    else this.#run();
  }

  /** True while the queue has no entry left to run. */
  get isEmpty(): boolean {
    return this.#next === this.#end;
  }

  wants(type: FactType): boolean {
    return this.#facts.wants(type);
  }

  /** Queues a fact, where anybody wants it. @returns whether somebody does. */
  tell(fact: Fact): boolean {
    if (!this.#facts.wants(fact.type)) return false;
    this.call(this.#tell, fact);
    return true;
  }

  /** Queues a call of code outside the path: a listener, an operation, the caller. */
  call<T>(run: (what: T) => void, what: T): void {
    this.#push(false, run, what);
  }

  /** Queues a further step of the path. It decides when it runs, after the listeners before it have changed what they wanted to. */
  step<T>(run: (what: T) => void, what: T): void {
    this.#push(true, run, what);
  }

  /** Queues a step for each of these calls, one after the other; it ends early when a step returns false. */
  each<T>(items: readonly T[], run: (item: T) => boolean | void, after?: () => void): void {
    let index = 0;
    const next = (): void => {
      if (index === items.length) {
        after?.();
        return;
      }
      if (run(items[index++] as T) !== false) this.step(next, undefined);
    };
    this.step(next, undefined);
  }

  /**
   * An operation or a fallback is about to run. The calls it makes start at once instead of after its return, which may take long.
   * {@link inside} must follow.
   */
  outside(): void {
    this.#running = false;
    this.isIdle = this.#next === this.#end;
  }

  /** The operation or the fallback has returned. */
  inside(): void {
    this.#running = true;
    this.isIdle = false;
  }

  #push<T>(isStep: boolean, run: (what: T) => void, what: T): void {
    const slots = this.#slots;
    const end = this.#end;
    slots[end] = isStep;
    slots[end + 1] = run;
    slots[end + 2] = what;
    this.#end = end + 3;
    if (this.#depth === 0 && !this.#running) this.#run();
  }

  #run(): void {
    const slots = this.#slots;
    let failed = false;
    let failure: unknown;
    this.#running = true;
    this.isIdle = false;
    while (this.#next < this.#end) {
      const at = this.#next;
      const isStep = slots[at] === true;
      const run = slots[at + 1] as Run;
      const what = slots[at + 2] as never;
      slots[at + 1] = nothing;
      slots[at + 2] = undefined;
      this.#next = at + 3;
      try {
        if (isStep && this.#next < this.#end) this.#runInPlace(run, what);
        else run(what);
      } catch (error) {
        // An entry that throws must not keep the others from being run.
        if (!failed) failure = error;
        failed = true;
      }
    }
    this.#next = 0;
    this.#end = 0;
    if (slots.length > mostKept) slots.length = 0;
    this.#running = false;
    this.isIdle = true;
    if (failed) throw failure;
  }

  /** Runs a step, and puts the entries that it queues in front of those that are left. */
  #runInPlace(run: Run, what: never): void {
    const rest = this.#slots.slice(this.#next, this.#end);
    this.#slots.fill(undefined, this.#next, this.#end);
    this.#end = this.#next;
    try {
      run(what);
    } finally {
      for (const slot of rest) this.#slots[this.#end++] = slot;
    }
  }
}
