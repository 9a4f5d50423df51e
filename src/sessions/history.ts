import type { Message } from './mailbox.ts';
import type { ToolResult } from './toolResult.ts';

/** One entry of a session's history. `at` is wall time in ms since the epoch. */
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
 * What happened in a session, well-formed by construction: every tool call gets exactly one result; one that comes after the
 * first is refused. Bounded: the oldest turns go first, whole, once their calls have their results.
 */
export class History {
  readonly #limit: number;
  readonly #turns = new Map<number, HistoryEntry[]>();
  /** The turn of each tool call without a result. */
  readonly #open = new Map<string, number>();
  #size = 0;

  /** @param limit - entries kept; the running turn is kept whole whatever its length. At least 1. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get entries(): readonly HistoryEntry[] {
    return [...this.#turns.values()].flat();
  }

  /** Tool calls without a result. */
  get unanswered(): number {
    return this.#open.size;
  }

  addMessage(entry: Extract<HistoryEntry, { type: 'message' }>): void {
    this.#add(entry);
    this.#trim(entry.turn);
  }

  addCall(entry: Extract<HistoryEntry, { type: 'tool_call' }>): void {
    this.#open.set(entry.call, entry.turn);
    this.#add(entry);
  }

  /** False when the call has its result already: this one is late. */
  addResult(entry: Extract<HistoryEntry, { type: 'tool_result' }>): boolean {
    if (!this.#open.delete(entry.call)) return false;
    this.#add(entry);
    return true;
  }

  #add(entry: HistoryEntry): void {
    const turn = this.#turns.get(entry.turn);
    if (turn === undefined) this.#turns.set(entry.turn, [entry]);
    else turn.push(entry);
    this.#size++;
  }

  #trim(current: number): void {
    if (this.#size <= this.#limit) return;
    const unanswered = new Set(this.#open.values());
    for (const [turn, entries] of this.#turns) {
      if (this.#size <= this.#limit) return;
      if (turn === current || unanswered.has(turn)) continue;
      this.#turns.delete(turn);
      this.#size -= entries.length;
    }
  }
}
