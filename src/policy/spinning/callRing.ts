import type { AnswerKey } from './answerKey.ts';

/** Calls that are looked back upon, where nothing else is set. */
export const defaultWindow = 60;

/** A call with its answer, as the ring takes it. */
export interface RingCall {
  /** Fingerprint of the tool's name. */
  readonly tool: number;
  /** Of the tool and its arguments. */
  readonly call: number;
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

/** Columns of a call in the ring: fingerprints, then counts, then marks of one bit each. */
const column = {
  tool: 0,
  call: 1,
  alike: 2,
  exact: 3,
  reason: 4,
  count: 5,
  own: 6,
  exactCount: 7,
  seen: 8,
  period: 9,
  bits: 10,
};
const width = 11;
type Column = keyof typeof column;
const bit = { failed: 1, acts: 2, slow: 4, patient: 8, fresh: 16 };

/** The last calls of a session as fingerprints. It keeps no text, and takes 88 bytes a call. A place is the number of a call, from 0. */
export class CallRing {
  /** Calls that are looked back upon. */
  readonly window: number;
  readonly #cells: Float64Array;
  #size = 0;
  /** Calls before the last mark. */
  #marked = 0;

  /** @param window - at least 10. */
  constructor(window = defaultWindow) {
    this.window = window;
    this.#cells = new Float64Array(window * width);
  }

  /** Takes a call with its answer. @param isPatient - asked only of a call that was answered alike before. */
  add({ tool, call, answer, failed, acts, slow }: RingCall, isPatient: () => boolean): Repetition {
    const place = this.#size++;
    const before = this.#alikeBefore(place, call, answer.alike);
    this.#fill(place, { tool, call, alike: answer.alike, exact: answer.exact, reason: answer.reason });
    let bits = (failed ? bit.failed : 0) | (acts ? bit.acts : 0) | (slow ? bit.slow : 0);
    if (before === undefined) bits |= bit.fresh;
    else {
      if (isPatient()) bits |= bit.patient;
      // What comes again was no step forward.
      this.#set(before, 'bits', this.#get(before, 'bits') & ~bit.fresh);
      this.#set(place, 'seen', this.#get(before, 'seen') + 1);
      this.#set(place, 'period', place - before);
    }
    this.#set(place, 'bits', bits);
    if (before !== undefined) this.#count(place);
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
    if (place === undefined) return undefined;
    const [tool = 0, , alike = 0, exact = 0, reason = 0] = this.#row(place);
    return this.add({ tool, call, answer: { alike, exact, reason }, ...this.#at(place) }, () =>
      this.#has(place, 'patient'),
    );
  }

  /** Fingerprints of the last answer to a call; undefined where the window has none. */
  lastAnswer(call: number): AnswerKey | undefined {
    const place = this.#last(call);
    if (place === undefined) return undefined;
    const [, , alike = 0, exact = 0, reason = 0] = this.#row(place);
    return { alike, exact, reason };
  }

  /** Says late what an answer to a call was alike; until then it was alike to itself. */
  settle(call: number, { exact, alike }: AnswerKey): void {
    for (let place = this.#last(call); place !== undefined; place = this.#last(call, place - 1))
      if (this.#get(place, 'exact') === exact) this.#set(place, 'alike', alike);
  }

  /** All of it as numbers, for {@link CallRing.from}; as JSON at most 11 kB for a window of 60. */
  toRows(): readonly (readonly number[])[] {
    const first = this.#oldest;
    const rows = Array.from({ length: this.#size - first }, (_, index) => this.#row(first + index));
    return [[Math.max(0, this.#marked - first)], ...rows];
  }

  /** Reads what {@link toRows} gave; what is none is an empty ring. Never throws. */
  static from(read: unknown, window = defaultWindow): CallRing {
    const ring = new CallRing(window);
    const [marks, ...rows] = Array.isArray(read) ? (read as unknown[]) : [];
    if (!rows.every((row) => Array.isArray(row) && row.length === width && row.every(Number.isFinite))) return ring;
    for (const row of rows.slice(-window)) ring.#cells.set(row as number[], ring.#size++ * width);
    const marked: unknown = Array.isArray(marks) ? marks[0] : 0;
    ring.#marked = typeof marked === 'number' ? marked : 0;
    return ring;
  }

  #at(place: number): Repetition {
    const count = this.#get(place, 'count');
    const failed = this.#has(place, 'failed');
    return {
      failed,
      acts: this.#has(place, 'acts'),
      slow: this.#has(place, 'slow'),
      patient: this.#has(place, 'patient'),
      count,
      own: place < this.#marked ? 0 : this.#get(place, 'own'),
      seen: this.#get(place, 'seen'),
      period: this.#get(place, 'period'),
      exact: this.#get(place, 'exactCount') >= count,
      varied: failed ? this.#varied(place) : 0,
    };
  }

  /** Counts the calls that were answered alike since the last one before which something new came. */
  #count(last: number): void {
    const chain = [last];
    let before = this.#beforeOf(last);
    for (; before !== undefined && !this.#movedBetween(before, chain[0] as number); before = this.#beforeOf(before))
      chain.unshift(before);
    const [oldest = last, ...later] = chain;
    // What is out of the window is in the figures of the oldest call within.
    if (before !== undefined) for (const name of ['count', 'own', 'exactCount'] as const) this.#set(oldest, name, 1);
    let previous = oldest;
    for (const place of later) {
      this.#set(place, 'count', this.#get(previous, 'count') + 1);
      this.#set(place, 'own', previous < this.#marked ? 1 : this.#get(previous, 'own') + 1);
      const isExact = this.#get(previous, 'exact') === this.#get(place, 'exact');
      this.#set(place, 'exactCount', isExact ? this.#get(previous, 'exactCount') + 1 : 1);
      previous = place;
    }
  }

  /** Tells whether something new came: for a failure an effect, or a success of the same call; for a success any other, or another answer to the same call. */
  #movedBetween(before: number, place: number): boolean {
    const failed = this.#has(before, 'failed');
    const call = this.#get(before, 'call');
    for (let each = before + 1; each < place; each++) {
      const isNew = this.#has(each, 'fresh') && !this.#has(each, 'failed');
      if (isNew && (!failed || this.#has(each, 'acts'))) return true;
      if (this.#get(each, 'call') === call && !(failed && this.#has(each, 'failed'))) return true;
    }
    return false;
  }

  /** Failures for the reason of this one among the last ten calls of its tool; 0 where their arguments are the same. */
  #varied(place: number): number {
    const [tool, call, , , reason] = this.#row(place);
    let calls = 0;
    let alike = 0;
    let isVaried = false;
    for (let each = place; each >= this.#oldest && calls < 10; each--) {
      if (this.#get(each, 'tool') !== tool) continue;
      calls++;
      if (this.#get(each, 'reason') !== reason) continue;
      alike++;
      isVaried ||= this.#get(each, 'call') !== call;
    }
    return isVaried ? alike : 0;
  }

  get #oldest(): number {
    return Math.max(0, this.#size - this.window);
  }

  #beforeOf(place: number): number | undefined {
    return this.#alikeBefore(place, this.#get(place, 'call'), this.#get(place, 'alike'));
  }

  #alikeBefore(place: number, call: number, alike: number): number | undefined {
    for (let each = this.#last(call, place - 1); each !== undefined; each = this.#last(call, each - 1))
      if (this.#get(each, 'alike') === alike) return each;
    return undefined;
  }

  #last(call: number, from = this.#size - 1): number | undefined {
    const cells = this.#cells;
    let at = ((from + this.window) % this.window) * width + column.call;
    for (let place = from; place >= this.#oldest; place--) {
      if (cells[at] === call) return place;
      at -= width;
      if (at < 0) at += cells.length;
    }
    return undefined;
  }

  #fill(place: number, prints: Readonly<Record<'tool' | 'call' | 'alike' | 'exact' | 'reason', number>>): void {
    const cells = this.#cells;
    const start = (place % this.window) * width;
    cells[start + column.tool] = prints.tool;
    cells[start + column.call] = prints.call;
    cells[start + column.alike] = prints.alike;
    cells[start + column.exact] = prints.exact;
    cells[start + column.reason] = prints.reason;
    for (const name of ['count', 'own', 'exactCount', 'seen'] as const) cells[start + column[name]] = 1;
    cells[start + column.period] = 0;
  }

  #row(place: number): readonly number[] {
    const start = (place % this.window) * width;
    return [...this.#cells.subarray(start, start + width)];
  }

  #has(place: number, name: keyof typeof bit): boolean {
    return (this.#get(place, 'bits') & bit[name]) !== 0;
  }

  #get(place: number, name: Column): number {
    return this.#cells[(place % this.window) * width + column[name]] as number;
  }

  #set(place: number, name: Column, value: number): void {
    this.#cells[(place % this.window) * width + column[name]] = value;
  }
}
