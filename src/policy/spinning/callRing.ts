import type { AnswerKey } from './answerKey.ts';

/** Calls that are looked back upon, where nothing else is set. */
export const defaultWindow = 60;

/** Fingerprints of a call: of the tool's name, and of the tool and its arguments. */
export interface CallKey {
  readonly tool: number;
  readonly call: number;
}

/** A call with its answer, as the ring takes it. */
export interface RingCall {
  readonly key: CallKey;
  readonly answer: AnswerKey;
  readonly failed: boolean;
  /** True of a tool that is no declared read. */
  readonly acts: boolean;
  /** True of a call that took long. */
  readonly slow: boolean;
}

/** Repetition of one call, as of its last answer. */
export interface Repetition extends Pick<RingCall, 'failed' | 'acts' | 'slow'> {
  /** Times that this call was answered alike with nothing new in between: nothing that acted for a failure, nothing at all for a success. At least 1. */
  readonly count: number;
  /** Those of `count` since the last {@link CallRing.mark}. */
  readonly own: number;
  /** The same as `count`, whatever was in between. */
  readonly seen: number;
  /** Calls from the last time to this one: 1 where they follow each other; 0 of the first. */
  readonly period: number;
  /** True where the last `count` answers are the same to the letter. */
  readonly exact: boolean;
  /** Failures for the same reason among the last ten calls of the tool, where their arguments differ. */
  readonly varied: number;
  /** True where the answer names the time of a wait, or the call waited itself and succeeded. */
  readonly patient: boolean;
}

/** Columns of the ring, one after the other: fingerprints, then counts, then marks of one bit each. */
const column = {
  call: 0,
  tool: 1,
  alike: 2,
  exact: 3,
  reason: 4,
  count: 5,
  own: 6,
  exactCount: 7,
  seen: 8,
  period: 9,
  bits: 10,
} as const;
const width = 11;
const bit = { failed: 1, acts: 2, slow: 4, patient: 8, fresh: 16 } as const;

/** The last calls of a session as fingerprints. It keeps no text, and takes 88 bytes a call. A place is the number of a call, from 0. */
export class CallRing {
  /** Calls that are looked back upon. */
  readonly window: number;
  readonly #cells: Float64Array;
  #size = 0;
  /** Calls before the last mark. */
  #marked = 0;
  /** Calls whose counts may be others by now: what was new between them came again, or was found to be alike. */
  #stale = 0;

  /** @param window - at least 10. */
  constructor(window = defaultWindow) {
    this.window = window;
    this.#cells = new Float64Array(window * width);
  }

  /** Takes a call with its answer. @param isPatient - asked only of a call that was answered alike before. */
  add({ key: { tool, call }, answer, failed, acts, slow }: RingCall, isPatient: () => boolean): Repetition {
    const place = this.#size++;
    const before = this.#alikeBefore(place, call, answer.alike);
    this.#set(place, column.tool, tool);
    this.#set(place, column.call, call);
    this.#set(place, column.alike, answer.alike);
    this.#set(place, column.exact, answer.exact);
    this.#set(place, column.reason, answer.reason);
    this.#setCounts(place, 1, 1, 1);
    this.#set(place, column.seen, before === undefined ? 1 : this.#get(before, column.seen) + 1);
    this.#set(place, column.period, before === undefined ? 0 : place - before);
    const bits = (failed ? bit.failed : 0) | (acts ? bit.acts : 0) | (slow ? bit.slow : 0);
    this.#set(place, column.bits, bits | (before === undefined ? bit.fresh : isPatient() ? bit.patient : 0));
    if (before !== undefined) {
      if (this.#has(before, bit.fresh)) {
        // What comes again was no step forward.
        this.#set(before, column.bits, this.#get(before, column.bits) & ~bit.fresh);
        this.#stale = place;
      }
      this.#count(place, before);
    }
    return this.#at(place);
  }

  /** Tells that a new message is worked on: what was before it neither refuses a call nor ends anything. */
  mark(): void {
    this.#marked = this.#size;
  }

  /** The repetition of a call as it stands, or 0 where something new came since; undefined where the window has none. @param call - fingerprint of tool and arguments. */
  standing(call: number): Repetition | undefined {
    const place = this.#last(call);
    if (place === undefined) return undefined;
    const found = this.#at(place);
    return this.#movedBetween(place, this.#size) ? { ...found, count: 0, own: 0 } : found;
  }

  /** Takes a call that was refused as repetition: the same once more. @returns undefined where the window has none */
  addRefused(call: number): Repetition | undefined {
    const place = this.#last(call);
    const answer = this.lastAnswer(call);
    if (place === undefined || answer === undefined) return undefined;
    const isPatient = this.#has(place, bit.patient);
    const key = { tool: this.#get(place, column.tool), call };
    return this.add({ key, answer, ...this.#at(place) }, () => isPatient);
  }

  /** Fingerprints of the last answer to a call; undefined where the window has none. */
  lastAnswer(call: number): AnswerKey | undefined {
    const place = this.#last(call);
    if (place === undefined) return undefined;
    return {
      alike: this.#get(place, column.alike),
      exact: this.#get(place, column.exact),
      reason: this.#get(place, column.reason),
    };
  }

  /** Says late what an answer to a call was alike; until then it was alike to itself. */
  settle(call: number, { exact, alike }: AnswerKey): void {
    for (let place = this.#last(call); place !== undefined; place = this.#last(call, place - 1))
      if (this.#get(place, column.exact) === exact) this.#set(place, column.alike, alike);
    this.#stale = this.#size;
  }

  /** All of it as numbers, for {@link CallRing.from}; as JSON at most 11 kB for a window of 60. */
  toRows(): readonly (readonly number[])[] {
    const first = this.#oldest;
    const rows = Array.from({ length: this.#size - first }, (_, index) =>
      Array.from({ length: width }, (__, at) => this.#get(first + index, at)),
    );
    return [[Math.max(0, this.#marked - first)], ...rows];
  }

  /** Reads what {@link toRows} gave; what is none is an empty ring. Never throws. */
  static from(read: unknown, window = defaultWindow): CallRing {
    const ring = new CallRing(window);
    const [marks, ...rows] = Array.isArray(read) ? (read as unknown[]) : [];
    if (!rows.every((row) => Array.isArray(row) && row.length === width && row.every(Number.isFinite))) return ring;
    for (const row of rows.slice(-window) as number[][]) {
      const place = ring.#size++;
      for (const [at, cell] of row.entries()) ring.#set(place, at, cell);
    }
    const marked: unknown = Array.isArray(marks) ? marks[0] : 0;
    ring.#marked = typeof marked === 'number' ? marked : 0;
    ring.#stale = ring.#size;
    return ring;
  }

  #at(place: number): Repetition {
    const bits = this.#get(place, column.bits);
    const count = this.#get(place, column.count);
    const failed = (bits & bit.failed) !== 0;
    return {
      failed,
      acts: (bits & bit.acts) !== 0,
      slow: (bits & bit.slow) !== 0,
      patient: (bits & bit.patient) !== 0,
      count,
      own: place < this.#marked ? 0 : this.#get(place, column.own),
      seen: this.#get(place, column.seen),
      period: this.#get(place, column.period),
      exact: this.#get(place, column.exactCount) >= count,
      varied: failed ? this.#varied(place) : 0,
    };
  }

  /** Counts the calls that were answered alike since the last one before which something new came. */
  #count(last: number, before: number): void {
    if (before >= this.#stale) {
      if (!this.#movedBetween(before, last)) this.#countOn(before, last);
      return;
    }
    const chain = [last];
    let earlier: number | undefined = before;
    for (
      ;
      earlier !== undefined && !this.#movedBetween(earlier, chain.at(-1) as number);
      earlier = this.#beforeOf(earlier)
    )
      chain.push(earlier);
    let previous = chain.pop() as number;
    // What is out of the window is in the figures of the oldest call within.
    if (earlier !== undefined) this.#setCounts(previous, 1, 1, 1);
    for (const place of chain.toReversed()) {
      this.#countOn(previous, place);
      previous = place;
    }
  }

  /** Counts a call after the one before that was answered alike. */
  #countOn(previous: number, place: number): void {
    // A call that waited is the first of its kind again.
    if (this.#has(place, bit.patient)) return this.#setCounts(place, 1, 1, 1);
    const own = previous < this.#marked ? 1 : this.#get(previous, column.own) + 1;
    const isExact = this.#get(previous, column.exact) === this.#get(place, column.exact);
    const exactCount = isExact ? this.#get(previous, column.exactCount) + 1 : 1;
    this.#setCounts(place, this.#get(previous, column.count) + 1, own, exactCount);
  }

  /** Tells whether something new came: for a failure an effect, or a success of the same call; for a success any other, or another answer to the same call. */
  #movedBetween(before: number, place: number): boolean {
    const failed = this.#has(before, bit.failed);
    const call = this.#get(before, column.call);
    for (let each = before + 1; each < place; each++) {
      const isFailed = this.#has(each, bit.failed);
      const isNew = this.#has(each, bit.fresh) && !isFailed;
      if (isNew && (!failed || this.#has(each, bit.acts))) return true;
      if (this.#get(each, column.call) === call && !(failed && isFailed)) return true;
    }
    return false;
  }

  /** Failures for the reason of this one among the last ten calls of its tool; 0 where their arguments are the same. */
  #varied(place: number): number {
    const tool = this.#get(place, column.tool);
    const call = this.#get(place, column.call);
    const reason = this.#get(place, column.reason);
    const oldest = this.#oldest;
    let calls = 0;
    let alike = 0;
    let isVaried = false;
    for (let each = place; each >= oldest && calls < 10; each--) {
      if (this.#get(each, column.tool) !== tool) continue;
      calls++;
      if (this.#get(each, column.reason) !== reason) continue;
      alike++;
      isVaried ||= this.#get(each, column.call) !== call;
    }
    return isVaried ? alike : 0;
  }

  get #oldest(): number {
    return Math.max(0, this.#size - this.window);
  }

  #beforeOf(place: number): number | undefined {
    return this.#alikeBefore(place, this.#get(place, column.call), this.#get(place, column.alike));
  }

  #alikeBefore(place: number, call: number, alike: number): number | undefined {
    for (let each = this.#last(call, place - 1); each !== undefined; each = this.#last(call, each - 1))
      if (this.#get(each, column.alike) === alike) return each;
    return undefined;
  }

  #last(call: number, from = this.#size - 1): number | undefined {
    const { window } = this;
    const cells = this.#cells;
    const oldest = this.#oldest;
    let slot = from % window;
    for (let place = from; place >= oldest; place--) {
      // The column of the calls is the first one.
      if (cells[slot] === call) return place;
      slot = slot === 0 ? window - 1 : slot - 1;
    }
    return undefined;
  }

  #setCounts(place: number, count: number, own: number, exactCount: number): void {
    this.#set(place, column.count, count);
    this.#set(place, column.own, own);
    this.#set(place, column.exactCount, exactCount);
  }

  #has(place: number, mark: number): boolean {
    return (this.#get(place, column.bits) & mark) !== 0;
  }

  #get(place: number, at: number): number {
    return this.#cells[at * this.window + (place % this.window)] as number;
  }

  #set(place: number, at: number, value: number): void {
    this.#cells[at * this.window + (place % this.window)] = value;
  }
}
