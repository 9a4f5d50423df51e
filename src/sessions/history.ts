import type { Message } from './mailbox.ts';
import type { ToolResult } from './toolResult.ts';

/** Entry of a session's history. `at` is wall time in ms since the epoch. */
export type HistoryEntry =
  | {
      readonly type: 'message';
      readonly turn: number;
      readonly id: string;
      readonly message: Message;
      readonly at: number;
    }
  | {
      readonly type: 'tool_call';
      readonly turn: number;
      readonly call: string;
      readonly integration: string;
      readonly tool: string;
      readonly input: unknown;
      readonly at: number;
    }
  | {
      readonly type: 'tool_result';
      readonly turn: number;
      readonly call: string;
      readonly result: ToolResult;
      readonly at: number;
    };

/**
 * History of a session, well-formed by construction: every tool call gets exactly one result; one that comes after the first is refused. Bounded: the oldest
 * turns go first, whole, once their calls have their results.
 */
export class History {
  readonly #limit: number;
  readonly #turns = new Map<number, HistoryEntry[]>();
  /** The turn of each tool call without a result; made with the first call. */
  #open: Map<string, number> | undefined = undefined;
  #size = 0;
  #lastSeq = 0;

  /** @param limit - entries kept; the running turn is kept whole whatever its length. At least 1. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get entries(): readonly HistoryEntry[] {
    return [...this.#turns.values()].flat();
  }

  /** Tool calls without a result. */
  get unanswered(): number {
    return this.#open?.size ?? 0;
  }

  /** The oldest turn that is held; 0 while there is none. */
  get firstTurn(): number {
    return this.#turns.keys().next().value ?? 0;
  }

  /**
   * Takes up what was kept, whose last turn and entry had the numbers `lastTurn` and `lastSeq`. It is what counts; turns after it
   * that are here already, and were never kept, stay.
   */
  restore(entries: readonly HistoryEntry[], lastTurn: number, lastSeq: number): void {
    const later = [...this.#turns.values()].flat().filter(({ turn }) => turn > lastTurn);
    this.#turns.clear();
    this.#size = 0;
    for (const entry of entries) this.#add(entry);
    for (const entry of later) this.#add(entry);
    this.#lastSeq = Math.max(this.#lastSeq, lastSeq);
  }

  /** @returns the entry's place, from 1. */
  addMessage(entry: Extract<HistoryEntry, { type: 'message' }>): number {
    const seq = this.#add(entry);
    this.#trim(entry.turn);
    return seq;
  }

  /** @returns the entry's place. */
  addCall(entry: Extract<HistoryEntry, { type: 'tool_call' }>): number {
    (this.#open ??= new Map<string, number>()).set(entry.call, entry.turn);
    return this.#add(entry);
  }

  /** @returns the entry's place; undefined when the call has its result already: this one is late. */
  addResult(entry: Extract<HistoryEntry, { type: 'tool_result' }>): number | undefined {
    return this.#open?.delete(entry.call) === true ? this.#add(entry) : undefined;
  }

  #add(entry: HistoryEntry): number {
    const turn = this.#turns.get(entry.turn);
    if (turn === undefined) this.#turns.set(entry.turn, [entry]);
    else turn.push(entry);
    this.#size++;
    return ++this.#lastSeq;
  }

  #trim(current: number): void {
    if (this.#size <= this.#limit) return;
    const unanswered = new Set(this.#open?.values());
    for (const [turn, entries] of this.#turns) {
      if (this.#size <= this.#limit) return;
      if (turn === current || unanswered.has(turn)) continue;
      this.#turns.delete(turn);
      this.#size -= entries.length;
    }
  }
}
