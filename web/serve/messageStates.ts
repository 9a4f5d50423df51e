import type { Gateway } from '../../src/gateway/gatewayTypes.ts';
import type { Clock } from '../../src/policy/clock.ts';
import type { MessageRecord, StoreReader } from '../../src/store/storeReader.ts';
import { unreadable } from './apiError.ts';
import { isOver, type MessageView, messageView, recordView } from './messageView.ts';
import type { ServedSession } from './sessionHost.ts';

/** Turns that are looked through for why one failed. */
const recentTurns = 200;
/** Pause before the record is asked again how a message ended, in ms: twice as late each time, up to the last. */
const firstPauseMs = 50;
const lastPauseMs = 1000;

interface MessageStatesParts {
  readonly gateway: Pick<Gateway, 'why'>;
  readonly clock: Clock;
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

interface Question {
  readonly session: string;
  readonly id: string;
  readonly resolve: (record: MessageRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * States of messages: of a session of this gateway as far as it knows itself, and else by the record. Several gateways that share a database all know the
 * record, whoever accepted a message and whoever processes it.
 */
export class MessageStates {
  readonly #parts: MessageStatesParts;
  #asked: Question[] = [];
  #isReading = false;

  constructor(parts: MessageStatesParts) {
    this.#parts = parts;
  }

  /** Undefined for a message that nobody knows any more. @throws ApiError while the record cannot be read */
  async view(session: ServedSession, id: string): Promise<MessageView | undefined> {
    const own = session.heldElsewhere ? undefined : await this.#ownView(session, id);
    if (own !== undefined) return own;
    const record = await this.record(session.id, id);
    return record && recordView(record, session.heldElsewhere);
  }

  /** A message as it is on record. Many that are asked for at once are read one after the other. @throws ApiError while it cannot be read */
  record(session: string, id: string): Promise<MessageRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ session, id, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /**
   * Resolves once the record says that a message has ended or knows it not, or when it is given up. An outage of the record is waited through.
   * @param until - on the clock, in ms.
   */
  async ended(session: string, id: string, until: number, isGivenUp: () => boolean): Promise<void> {
    const { clock } = this.#parts;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(lastPauseMs, 2 * pauseMs)) {
      const found = await this.record(session, id).catch(() => 'unreadable' as const);
      if (found !== 'unreadable' && (found === undefined || isOver(recordView(found, true)))) return;
      const leftMs = until - clock.now();
      if (leftMs <= 0 || isGivenUp()) return;
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, Math.min(pauseMs, leftMs)));
    }
  }

  async #ownView(session: ServedSession, id: string): Promise<MessageView | undefined> {
    const { gateway, read } = this.#parts;
    const running = gateway.why(session.id).turn?.message;
    const records = await read((reader) => reader.session(session.id)).catch(() => undefined);
    const turns = await read((reader) => reader.turns(session.id, recentTurns)).catch(() => []);
    return messageView(id, { history: session.history, running, records, turns });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#asked.length > 0) {
      const questions = this.#asked;
      this.#asked = [];
      const answers = this.#parts.read(async (reader) => {
        for (const { session, id, resolve } of questions) resolve(await reader.message(session, id));
      });
      // Questions that have their answer keep it.
      await answers.catch(() => {
        for (const { reject } of questions) reject(unreadable());
      });
    }
    this.#isReading = false;
  }
}
