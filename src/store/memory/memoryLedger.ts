import type { Fact, Told } from '../../policy/facts.ts';
import {
  type Kept,
  maxKeys,
  type MessageEnd,
  type Resend,
  resendKey,
  type SessionLedger,
  type StoredCall,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredVerdict,
} from '../../sessions/sessionStore.ts';
import type { NamedMessage } from '../../sessions/messageId.ts';
import type { ToolResult } from '../../sessions/toolResult.ts';
import { toJson } from '../json.ts';
import type { Write } from '../committer.ts';
import { messageIn } from '../sessionRows.ts';
import type { WriteQueue } from '../writeQueue.ts';
import type { MemorySession } from './memoryDatabase.ts';

/** Write to the memory that stores share. */
export interface MemoryWrite extends Write {
  run(): void;
}

/** Surroundings that the ledgers of a run share. */
interface LedgerScope {
  readonly queue: WriteQueue<MemoryWrite>;
  readonly record: (fact: Told<Fact>) => void;
}

/** Rows of one session in memory, for the runtime that claimed it. */
export class MemoryLedger implements SessionLedger {
  readonly #queue: WriteQueue<MemoryWrite>;
  readonly #record: (fact: Told<Fact>) => void;
  readonly #id: string;
  readonly #session: MemorySession;
  readonly #runtime: string;
  readonly #fence: number;

  constructor({ queue, record }: LedgerScope, id: string, session: MemorySession, runtime: string) {
    this.#queue = queue;
    this.#record = record;
    this.#id = id;
    this.#session = session;
    this.#runtime = runtime;
    this.#fence = session.fence;
  }

  post({ number, message, key, at }: StoredMessage): Promise<Kept> {
    const body = toJson(message);
    return this.#write(({ messages }) => {
      if (messages.has(number)) return false;
      const row = { number, body, key, at, deliveries: 0, stops: 0, taken: undefined, dropped: false };
      messages.set(number, { ...row, state: 'waiting' });
      return true;
    });
  }

  take(number: number, turn: number, seq: number, wallNow: number): Promise<Kept> {
    const taken = { turn, seq, at: wallNow };
    return this.#write(
      (session) => {
        const row = session.messages.get(number);
        if (row === undefined) return false;
        Object.assign(row, { state: 'taken', deliveries: row.deliveries + 1, taken });
        session.lastTurn = Math.max(session.lastTurn, turn);
        session.lastSeq = Math.max(session.lastSeq, seq);
        return true;
      },
      { begins: true },
    );
  }

  putBack(number: number, begun: boolean): Promise<Kept> {
    return this.#write(
      ({ messages }) => {
        const row = messages.get(number);
        if (row === undefined) return false;
        row.state = 'waiting';
        if (begun) row.stops++;
        else row.deliveries = Math.max(0, row.deliveries - 1);
        return true;
      },
      { toldNext: true },
    );
  }

  finish(number: number, end: MessageEnd): Promise<Kept> {
    return this.#write(
      ({ messages }) => {
        const row = messages.get(number);
        if (row === undefined) return false;
        Object.assign(row, { state: 'over', dropped: end === 'dropped' });
        return true;
      },
      { toldNext: true },
    );
  }

  open({ call, turn, integration, tool, input, effect, seq, at, rule, idempotencyKey }: StoredCall): Promise<Kept> {
    const written = toJson(input);
    return this.#write((session) => {
      if (session.calls.has(call)) return false;
      const row = { session: this.#id, call, turn, integration, tool, input: written, effect, seq, startedAt: at };
      session.calls.set(call, {
        ...row,
        rule,
        idempotencyKey,
        runtime: this.#runtime,
        settled: undefined,
        late: false,
      });
      session.lastTurn = Math.max(session.lastTurn, turn);
      session.lastSeq = Math.max(session.lastSeq, seq);
      return true;
    });
  }

  settle(call: string, result: ToolResult, seq: number | undefined, wallNow: number): Promise<Kept> {
    return this.#write(
      (session) => {
        const row = session.calls.get(call);
        if (row === undefined || row.late) return false;
        if (row.settled !== undefined) row.late = true;
        else {
          const place = seq ?? session.lastSeq + 1;
          row.settled = { result: toJson(result), seq: place, at: wallNow };
          session.lastSeq = Math.max(session.lastSeq, place);
        }
        return true;
      },
      { toldNext: true },
    );
  }

  async deadLetter(message: NamedMessage): Promise<StoredDeadLetter | undefined> {
    const row = 'mail' in message ? undefined : this.#session.messages.get(message.number);
    if (row?.dead === undefined) return undefined;
    return { number: row.number, message: messageIn(row.body), reason: row.dead };
  }

  resend({ letter, number, at, fact }: Resend): Promise<Kept> {
    return this.#write(({ messages }) => {
      const row = messages.get(letter);
      if (row?.dead === undefined || messages.has(number)) return false;
      const { body } = row;
      const more = { deliveries: 0, stops: 0, taken: undefined, dropped: false } as const;
      messages.set(number, { number, body, key: resendKey(letter), at, ...more, state: 'waiting' });
      Object.assign(row, { dead: undefined, dropped: true });
      this.#record({ ...fact, at });
      return true;
    });
  }

  bury(number: number, at: number, _why: string, fact?: Fact): Promise<Kept> {
    return this.#write(({ messages }) => {
      const row = messages.get(number);
      if (row?.dead === undefined) return false;
      Object.assign(row, { dead: undefined, dropped: true });
      if (fact !== undefined) this.#record({ ...fact, at });
      return true;
    });
  }

  reconciling(call: string): Promise<Kept> {
    return this.#write(({ calls }) => calls.has(call));
  }

  reconciled(call: string, found: StoredVerdict): Promise<Kept> {
    return this.#write(
      ({ calls }) => {
        const row = calls.get(call);
        if (row !== undefined) row.verdict = found;
        return row !== undefined;
      },
      { toldNext: true },
    );
  }

  /** Keeps the row of a message with a key, without its text, for as long as a second one of that key has to be recognised. */
  forget(beforeTurn: number): void {
    void this.#write(({ messages, calls }) => {
      for (const [id, { settled, turn }] of calls) if (settled !== undefined && turn < beforeTurn) calls.delete(id);
      const oldestKey = Math.max(0, ...messages.keys()) - maxKeys;
      for (const [number, row] of messages) {
        const isOver = row.dropped || (row.state === 'over' && row.taken !== undefined && row.taken.turn < beforeTurn);
        if (!isOver) continue;
        if (row.key === undefined || number <= oldestKey) messages.delete(number);
        else Object.assign(row, { body: '{}', taken: undefined });
      }
      return true;
    });
  }

  async release(): Promise<void> {
    await this.#write((session) => {
      session.owner = undefined;
      return true;
    });
  }

  /** @param change - whether it changed a row. */
  #write(change: (session: MemorySession) => boolean, how: Pick<Write, 'begins' | 'toldNext'> = {}): Promise<Kept> {
    return new Promise((resolve) => {
      let kept: Kept = 'volatile';
      this.#queue.add({
        ...how,
        run: () => {
          const { owner, fence } = this.#session;
          if (owner !== this.#runtime || fence !== this.#fence) kept = 'fenced';
          else if (change(this.#session)) kept = 'durable';
        },
        committed: () => resolve(kept),
        postponed: () => resolve('volatile'),
      });
    });
  }
}
