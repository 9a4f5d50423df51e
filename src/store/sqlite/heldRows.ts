import { maxKeys, type Past, type StoredCall } from '../../sessions/sessionStore.ts';
import type { Database } from './database.ts';
import { callRow, openCall } from '../tables/ledger.ts';
import { step } from '../work.ts';
import { changeRow } from './fileTables.ts';

/** A message that is committed and has no end yet, as its row is. */
export interface HeldMessage {
  readonly number: number;
  readonly body: string;
  readonly key: string | undefined;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  deliveries: number;
  stops: number;
  /** Present while its turn runs. */
  taken: { readonly turn: number; readonly seq: number; readonly at: number } | undefined;
}

/**
 * Rows of a session that are committed and still needed after the next start: messages and calls without an end, keys, and the last numbers. A new file is
 * given them when the earlier one was lost under a live runtime.
 */
export class HeldRows {
  readonly #messages = new Map<number, HeldMessage>();
  readonly #calls = new Map<string, StoredCall>();
  readonly #keys = new Map<string, number>();
  #lastMessage = 0;
  #lastTurn = 0;
  #lastAt = 0;

  /** Messages and calls that have no end yet. */
  get size(): number {
    return this.#messages.size + this.#calls.size;
  }

  /** Tells whether a message has no end yet. */
  holds(message: number): boolean {
    return this.#messages.has(message);
  }

  posted(message: HeldMessage): void {
    const { number, key, at } = message;
    this.#messages.set(number, message);
    this.#lastMessage = Math.max(this.#lastMessage, number);
    this.#lastAt = at;
    if (key !== undefined) this.#keyed(key, number);
  }

  taken(number: number, turn: number, seq: number, at: number): void {
    this.#lastTurn = Math.max(this.#lastTurn, turn);
    const message = this.#messages.get(number);
    if (message === undefined) return;
    message.deliveries++;
    message.taken = { turn, seq, at };
  }

  putBack(number: number, begun: boolean): void {
    const message = this.#messages.get(number);
    if (message === undefined) return;
    if (begun) message.stops++;
    else message.deliveries = Math.max(0, message.deliveries - 1);
    message.taken = undefined;
  }

  finished(number: number): void {
    this.#messages.delete(number);
  }

  opened(call: StoredCall): void {
    this.#calls.set(call.call, call);
  }

  settled(call: string): void {
    this.#calls.delete(call);
  }

  /** Takes what an earlier run has left, once it is read. */
  recalled({ keys, lastMessage, lastTurn }: Past): void {
    this.#lastMessage = Math.max(this.#lastMessage, lastMessage);
    this.#lastTurn = Math.max(this.#lastTurn, lastTurn);
    for (const [key, number] of keys) this.#keyed(key, number);
  }

  /** Writes all of it; rows that are there stay as they are. */
  write(database: Database, session: string, runtime: string): void {
    const insert = database.prepare(
      `INSERT INTO unwedge_messages (session, number, body, key, state, deliveries, stops, posted_at, turn, seq, taken_at, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER)) ON CONFLICT DO NOTHING`,
    );
    for (const { number, body, key, at, deliveries, stops, taken } of this.#messages.values()) {
      const state = taken === undefined ? 'waiting' : 'taken';
      const turn = [
        taken?.turn ?? null,
        taken?.seq ?? null,
        taken === undefined ? null : Math.round(taken.at),
      ] as const;
      insert.run(session, number, body, key ?? null, state, deliveries, stops, Math.round(at), ...turn, null);
    }
    // Messages that have ended leave what a second one is recognised by, and the numbers that must not be used again.
    const at = Math.round(this.#lastAt);
    const over = (number: number, key: string | null) =>
      insert.run(session, number, '{}', key, 'done', 0, 0, at, this.#lastTurn, null, null, at);
    for (const [key, number] of this.#keys) over(number, key);
    over(this.#messages.has(this.#lastMessage) ? 0 : this.#lastMessage, null);
    for (const call of this.#calls.values()) changeRow(database, step(openCall, '', callRow(session, runtime, call)));
  }

  #keyed(key: string, number: number): void {
    this.#keys.set(key, number);
    if (this.#keys.size <= maxKeys) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}
