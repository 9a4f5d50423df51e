import { randomUUID } from 'node:crypto';
import type { Gateway } from '../../src/gateway/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import type { MessageHandler, Session, SupervisedSession } from '../../src/sessions/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { ApiError } from './apiError.ts';
import type { MessageResult } from './messageHandler.ts';
import { sessionPrefix } from './serveTypes.ts';

/** Time that a request waits for a session to be open, in ms: one of many may wait for the lock of the database. */
const openMs = 5000;

/** A session of ours. */
export type ServedSession = Session<MessageResult | undefined>;

type HeldSession = ServedSession & Pick<SupervisedSession, 'opening' | 'idleMs' | 'isKept' | 'used' | 'letGo'>;

/** Time after which an idle session may make room for another one, in ms. */
const roomAfterMs = 1000;
/** Part of the sessions that make room at once: to look for them takes a look at each. */
const roomPart = 0.01;

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

  /** True while no further session can be held: so many are there, and none is idle. */
  get isFull(): boolean {
    return this.#parts.sessions.size >= this.#parts.most && this.#idle.length === 0;
  }

  /** Sessions by whose end nothing is lost to anybody, the one that is idle for longest first. */
  get #idle(): readonly HeldSession[] {
    const held = [...(this.#parts.sessions as ReadonlyMap<string, HeldSession>).values()];
    const idle = held.filter(({ isKept, idleMs = 0 }) => isKept && idleMs >= roomAfterMs);
    return idle.toSorted((one, other) => (other.idleMs ?? 0) - (one.idleMs ?? 0));
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
    this.#held(session.id)?.used();
    const wait = this.#held(session.id)?.opening;
    if (wait !== undefined && session.why().recovering === undefined) await inTime(wait, { clock, limitMs: openMs });
    return session;
  }

  #held(id: string): HeldSession | undefined {
    return this.#parts.sessions.get(id) as HeldSession | undefined;
  }

  #hold(id: string): ServedSession {
    const held = this.#held(id);
    if (held !== undefined) return held;
    const { gateway, onMessage, isStopping, most } = this.#parts;
    if (isStopping()) throw new ApiError(503, 'It is stopping.', 5);
    if (this.isFull) throw new ApiError(503, `${most} sessions are held already.`, 60);
    // They go on with what is on record of them when they are named again.
    if (this.#parts.sessions.size >= most)
      for (const idle of this.#idle.slice(0, Math.ceil(most * roomPart))) void idle.letGo({ because: 'room' });
    return gateway.session(id, { onMessage });
  }
}

const idOf = (name: string): string => (name.startsWith(sessionPrefix) ? name : `${sessionPrefix}${name}`);
