import type { Clock, Timer } from '../policy/clock.ts';

/** Something that must be looked at when its time has come. The queue alone writes `heapIndex`. */
export interface Deadline {
  /** Monotonic time in ms. */
  due: number;
  /** Place in the queue; negative when it is in none. */
  heapIndex: number;
  /** Neighbours in the order of time, where it is among those that came in it; the queue alone writes them. */
  earlier?: Deadline | undefined;
  later?: Deadline | undefined;
  /** Rank among those due in the same ms, which are judged in the order of their numbers, where they have one: of calls, the oldest first. */
  readonly number?: number;
  /** Called once after `due` has passed, with the time of judging; the deadline has left the queue. Must not throw. */
  expire(now: number): void;
}

/** The place of one that has left the heap to be judged, until it is or somebody removes it. */
const judged = -2;

/** The place of one that came in the order of time, and so many later ones that may stand before one that is added to them. */
const inOrder = 2 ** 30;
const reach = 4;

/**
 * All deadlines of a runtime, with one timer for the first. Those that come in the order of time (the usual case) are a chain, which costs one comparison
 * to add to and nothing to leave; the others are a heap, where both cost log n at most.
 *
 * What is due is judged one turn of the event loop after its timer, so that answers already received are read first: when the
 * loop was blocked or the machine slept, timers run before the I/O that would have saved the call.
 */
export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #stalled: ((stalledMs: number) => void) | undefined;
  /** Releases the watch over stalls of the event loop, which goes on as long as something is due. */
  #release: (() => void) | undefined = undefined;
  readonly #heap: Deadline[] = [];
  /** The ends of the chain, and how many are in it. */
  #first: Deadline | undefined = undefined;
  #last: Deadline | undefined = undefined;
  #chained = 0;
  #timer: Timer | undefined = undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  /** True while the timer keeps the process alive. */
  #isHolding = false;
  /** Deadlines that keep nothing alive. */
  readonly #loose = new Set<Deadline>();
  #judging = false;
  #tidying = false;
  /** True where a deadline was set in this turn. */
  #used = false;

  /** @param stalled - told of each stall of a second or more while something was due, once it is over. Must not throw. */
  constructor(clock: Clock, stalled?: (stalledMs: number) => void) {
    this.#clock = clock;
    this.#stalled = stalled;
  }

  get size(): number {
    return this.#heap.length + this.#chained;
  }

  get #head(): Deadline | undefined {
    const [top] = this.#heap;
    const first = this.#first;
    return first === undefined || (top !== undefined && top.due < first.due) ? top : first;
  }

  /** Adds a deadline, or moves one that is there to its new `due`. One of `Infinity` never comes and is not kept. */
  set(deadline: Deadline): void {
    if (deadline.due === Number.POSITIVE_INFINITY) {
      this.remove(deadline);
      return;
    }
    this.#used = true;
    if (deadline.heapIndex >= 0) this.#take(deadline);
    if (!this.#chain(deadline)) {
      deadline.heapIndex = this.#heap.length;
      this.#heap.push(deadline);
      this.#siftUp(deadline);
    }
    const isEarlier = deadline.due < this.#armedFor;
    if ((isEarlier || (!this.#isHolding && this.size > this.#loose.size)) && !this.#judging) this.#arm();
  }

  /** Adds it behind all that are not later. @returns false where too many are later. */
  #chain(deadline: Deadline): boolean {
    let earlier = this.#last;
    for (let passed = 0; earlier !== undefined && earlier.due > deadline.due; earlier = earlier.earlier)
      if (++passed > reach) return false;
    const later = earlier === undefined ? this.#first : earlier.later;
    deadline.heapIndex = inOrder;
    deadline.earlier = earlier;
    deadline.later = later;
    if (earlier === undefined) this.#first = deadline;
    else earlier.later = deadline;
    if (later === undefined) this.#last = deadline;
    else later.earlier = deadline;
    this.#chained++;
    return true;
  }

  /** The same for a deadline whose coming nobody is owed: it does not keep the process alive. */
  setLoose(deadline: Deadline): void {
    if (deadline.due !== Number.POSITIVE_INFINITY) this.#loose.add(deadline);
    this.set(deadline);
  }

  remove(deadline: Deadline): void {
    if (deadline.heapIndex < 0) {
      deadline.heapIndex = -1;
      return;
    }
    if (this.#loose.size > 0) this.#loose.delete(deadline);
    this.#take(deadline);
    // The timer is left for the next call to share, even one of the next turn; after a turn without any it goes, or it would keep the
    // process alive.
    if (this.size <= this.#loose.size && !this.#tidying) {
      this.#tidying = true;
      this.#clock.nextTurn(this.#tidy);
    }
  }

  /** Takes one out that is in it. */
  #take(deadline: Deadline): void {
    const { heapIndex: index, earlier, later } = deadline;
    deadline.heapIndex = -1;
    if (index === inOrder) {
      if (earlier === undefined) this.#first = later;
      else earlier.later = later;
      if (later === undefined) this.#last = earlier;
      else later.earlier = earlier;
      deadline.earlier = undefined;
      deadline.later = undefined;
      this.#chained--;
      return;
    }
    const last = this.#heap.pop();
    if (last === undefined || last === deadline) return;
    last.heapIndex = index;
    this.#heap[index] = last;
    this.#siftUp(last);
    this.#siftDown(last);
  }

  readonly #tidy = (): void => {
    const mustHold = this.size > this.#loose.size;
    if (!mustHold && this.#used) {
      this.#used = false;
      this.#clock.nextTurn(this.#tidy);
      return;
    }
    this.#tidying = false;
    if (mustHold) return;
    if (this.size > 0) {
      if (this.#isHolding && !this.#judging) this.#arm();
      return;
    }
    this.#disarm();
    this.#release?.();
    this.#release = undefined;
  };

  #arm(): void {
    this.#disarm();
    const head = this.#head;
    if (head === undefined) return;
    this.#armedFor = head.due;
    this.#release ??= this.#clock.stalls?.watch(this.#stalled);
    // A pending call holds the process: its promise is owed. Every limit is finite, and stop() empties the queue.
    this.#isHolding = this.size > this.#loose.size;
    this.#timer = this.#clock.setTimeout(this.#wake, Math.max(1, Math.ceil(head.due - this.#clock.now())), {
      ref: this.#isHolding,
    });
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  readonly #wake = (): void => {
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#judging = true;
    this.#clock.nextTurn(this.#judge);
  };

  readonly #judge = (): void => {
    const now = this.#clock.now();
    try {
      for (let head = this.#head; head !== undefined && head.due <= now; head = this.#head) {
        this.remove(head);
        if (this.#head?.due === head.due) this.#judgeTogether(head, now);
        else head.expire(now);
      }
    } finally {
      // Whatever one of them did, the others must not wait for ever.
      this.#judging = false;
      this.#arm();
    }
  };

  /** The heap says nothing of the order of those that are due in the same ms; calls that waited for the same thing go first come first. */
  #judgeTogether(first: Deadline, now: number): void {
    const all = [first];
    for (let head = this.#head; head?.due === first.due; head = this.#head) {
      this.remove(head);
      all.push(head);
    }
    for (const each of all) each.heapIndex = judged;
    all.sort((one, other) => (one.number ?? 0) - (other.number ?? 0));
    try {
      for (const each of all) {
        // Judging another may have removed it, or moved it on.
        if (each.heapIndex !== judged) continue;
        each.heapIndex = -1;
        each.expire(now);
      }
    } finally {
      for (const each of all) if (each.heapIndex === judged) this.set(each);
    }
  }

  #siftUp(deadline: Deadline): void {
    let index = deadline.heapIndex;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex] as Deadline;
      if (parent.due <= deadline.due) break;
      this.#heap[index] = parent;
      parent.heapIndex = index;
      index = parentIndex;
    }
    // It is in place, as the latest one: to write it there again would be a good part of what adding it costs.
    if (index === deadline.heapIndex) return;
    this.#heap[index] = deadline;
    deadline.heapIndex = index;
  }

  #siftDown(deadline: Deadline): void {
    let index = deadline.heapIndex;
    const length = this.#heap.length;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= length) break;
      const right = this.#heap[childIndex + 1];
      if (right !== undefined && right.due < (this.#heap[childIndex] as Deadline).due) childIndex++;
      const child = this.#heap[childIndex] as Deadline;
      if (child.due >= deadline.due) break;
      this.#heap[index] = child;
      child.heapIndex = index;
      index = childIndex;
    }
    this.#heap[index] = deadline;
    deadline.heapIndex = index;
  }
}
