import { randomUUID } from 'node:crypto';
import type { Gateway } from '../gateway/gatewayTypes.ts';
import type { Clock } from '../policy/clock.ts';
import { inTime } from '../policy/inTime.ts';
import type { Session } from '../sessions/session.ts';
import type { StoreReader } from '../store/storeReader.ts';
import type { MessageHandler } from '../sessions/sessionOptions.ts';
import { ApiError } from './apiError.ts';
import type { MessageResult } from './messageHandler.ts';
import { sessionPrefix } from './serveTypes.ts';

/** How long a request waits for a session to be open, in ms: one of many may wait for the lock of the database. */
const openMs = 5000;

/** A session of ours. */
export type ServedSession = Session<MessageResult | undefined>;

export interface SessionHostParts {
  readonly gateway: Pick<Gateway, 'session'>;
  /** Reads what is on record. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
  readonly onMessage: MessageHandler<MessageResult | undefined>;
  readonly isStopping: () => boolean;
  /** Resolves when it is known whose a session is and what is kept of it; undefined once it is. */
  readonly opening: (id: string) => Promise<void> | undefined;
  readonly clock: Clock;
  /** Sessions that are held at a time, at least 1. */
  readonly most: number;
}

/**
 * The sessions of a gateway that are served: made when they are asked for, and taken up again from the record: at the start those that have
 * something to do, the others when somebody names them.
 */
export class SessionHost {
  readonly #parts: SessionHostParts;
  readonly #sessions = new Map<string, ServedSession>();

  constructor(parts: SessionHostParts) {
    this.#parts = parts;
  }

  get all(): readonly ServedSession[] {
    return [...this.#sessions.values()];
  }

  /** Whether no further session can be held. */
  get isFull(): boolean {
    return this.#sessions.size >= this.#parts.most;
  }

  /** Takes up what an earlier process left undone. To be called before the gateway starts; a record that is not there yet has none. */
  async takeUp(): Promise<void> {
    const left = await this.#parts.read((reader) => reader.unfinishedSessions()).catch(() => []);
    // However many they are: what they hold was acknowledged.
    for (const id of left) if (id.startsWith(sessionPrefix)) this.#hold(id, Number.POSITIVE_INFINITY);
  }

  /**
   * The session of this name, made where there is none.
   * @param name - without its prefix, or with it. @defaultValue one that nobody has
   * @throws ApiError while the gateway stops, or no further session can be held
   */
  async open(name: string = randomUUID()): Promise<{ readonly session: ServedSession; readonly made: boolean }> {
    const found = await this.find(name);
    if (found !== undefined) return { session: found, made: false };
    return { session: await this.#opened(this.#hold(idOf(name))), made: true };
  }

  /** Undefined where there is none, here or on record. @throws ApiError while the gateway stops, or no further session can be held */
  async find(name: string): Promise<ServedSession | undefined> {
    const id = idOf(name);
    const held = this.#sessions.get(id) ?? (await this.#onRecord(id));
    return held === undefined ? undefined : this.#opened(held);
  }

  async #onRecord(id: string): Promise<ServedSession | undefined> {
    const found = await this.#parts.read((reader) => reader.session(id)).catch(() => undefined);
    return found === undefined ? undefined : this.#hold(id);
  }

  /** What is asked of a session before it is open would be answered as if nothing were kept of it. */
  async #opened(session: ServedSession): Promise<ServedSession> {
    const { opening, clock } = this.#parts;
    const wait = opening(session.id);
    if (wait !== undefined && session.why().recovering === undefined) await inTime(wait, { clock, limitMs: openMs });
    return session;
  }

  #hold(id: string, most = this.#parts.most): ServedSession {
    const held = this.#sessions.get(id);
    if (held !== undefined) return held;
    const { gateway, onMessage, isStopping } = this.#parts;
    if (isStopping()) throw new ApiError(503, 'It is stopping.', 5);
    if (this.#sessions.size >= most) throw new ApiError(503, `${most} sessions are held already.`, 60);
    const session = gateway.session(id, { onMessage });
    this.#sessions.set(id, session);
    return session;
  }
}

const idOf = (name: string): string => (name.startsWith(sessionPrefix) ? name : `${sessionPrefix}${name}`);
