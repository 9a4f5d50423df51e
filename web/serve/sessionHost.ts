import { randomUUID } from 'node:crypto';
import type { Gateway } from '../../src/gateway/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import type { MessageHandler, Session } from '../../src/sessions/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { ApiError } from './apiError.ts';
import type { MessageResult } from './messageHandler.ts';
import { sessionPrefix } from './serveTypes.ts';

/** Time that a request waits for a session to be open, in ms: one of many may wait for the lock of the database. */
const openMs = 5000;

/** A session of ours. */
export type ServedSession = Session<MessageResult | undefined>;

interface OpeningSession extends ServedSession {
  /** Resolves when it is known whose it is and what is kept of it; undefined once it is. */
  readonly opening: Promise<void> | undefined;
}

interface SessionHostParts {
  readonly gateway: Pick<Gateway, 'session' | 'adoptSessions'>;
  /** Sessions of the gateway: there are no others. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** Reads what is on record. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
  readonly onMessage: MessageHandler<MessageResult | undefined>;
  readonly isStopping: () => boolean;
  readonly clock: Clock;
  /** Sessions that are held at a time, at least 1. */
  readonly most: number;
}

/**
 * The sessions of a gateway that are served: made when they are asked for, and taken up again from the record: those that have something to do and
 * that no gateway has, the others when somebody names them.
 */
export class SessionHost {
  readonly #parts: SessionHostParts;
  constructor(parts: SessionHostParts) {
    this.#parts = parts;
    // However many they are: what they hold was acknowledged.
    const { gateway, onMessage } = parts;
    gateway.adoptSessions((id) => (id.startsWith(sessionPrefix) ? { onMessage } : undefined));
  }

  get all(): readonly ServedSession[] {
    return [...(this.#parts.sessions as ReadonlyMap<string, ServedSession>).values()];
  }

  /** True while no further session can be held. */
  get isFull(): boolean {
    return this.#parts.sessions.size >= this.#parts.most;
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
    const held = this.#held(id) ?? (await this.#onRecord(id));
    return held === undefined ? undefined : this.#opened(held);
  }

  async #onRecord(id: string): Promise<ServedSession | undefined> {
    const found = await this.#parts.read((reader) => reader.session(id)).catch(() => undefined);
    return found === undefined ? undefined : this.#hold(id);
  }

  /** Waits until a session is open: what is asked of it before would be answered as if nothing were kept of it. */
  async #opened(session: ServedSession): Promise<ServedSession> {
    const { clock } = this.#parts;
    const wait = this.#held(session.id)?.opening;
    if (wait !== undefined && session.why().recovering === undefined) await inTime(wait, { clock, limitMs: openMs });
    return session;
  }

  #held(id: string): OpeningSession | undefined {
    return this.#parts.sessions.get(id) as OpeningSession | undefined;
  }

  #hold(id: string): ServedSession {
    const held = this.#held(id);
    if (held !== undefined) return held;
    const { gateway, onMessage, isStopping, most } = this.#parts;
    if (isStopping()) throw new ApiError(503, 'It is stopping.', 5);
    if (this.isFull) throw new ApiError(503, `${most} sessions are held already.`, 60);
    return gateway.session(id, { onMessage });
  }
}

const idOf = (name: string): string => (name.startsWith(sessionPrefix) ? name : `${sessionPrefix}${name}`);
