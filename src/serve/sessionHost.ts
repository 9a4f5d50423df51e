import { randomUUID } from 'node:crypto';
import type { Gateway } from '../gateway/gatewayTypes.ts';
import type { Session } from '../sessions/session.ts';
import type { StoreReader } from '../store/storeReader.ts';
import type { MessageHandler } from '../sessions/sessionOptions.ts';
import { ApiError } from './apiError.ts';
import type { MessageResult } from './messageHandler.ts';
import { sessionPrefix } from './serveTypes.ts';

/** A session of ours. */
export type ServedSession = Session<MessageResult | undefined>;

export interface SessionHostParts {
  readonly gateway: Pick<Gateway, 'session'>;
  /** Reads what is on record. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
  readonly onMessage: MessageHandler<MessageResult | undefined>;
  readonly isStopping: () => boolean;
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
    const id = idOf(name);
    const found = await this.find(id);
    return found === undefined ? { session: this.#hold(id), made: true } : { session: found, made: false };
  }

  /** Undefined where there is none, here or on record. @throws ApiError while the gateway stops, or no further session can be held */
  async find(name: string): Promise<ServedSession | undefined> {
    const id = idOf(name);
    const held = this.#sessions.get(id);
    if (held !== undefined) return held;
    const onRecord = await this.#parts.read((reader) => reader.session(id)).catch(() => undefined);
    // Somebody else may have asked meanwhile.
    return this.#sessions.get(id) ?? (onRecord === undefined ? undefined : this.#hold(id));
  }

  #hold(id: string, most = this.#parts.most): ServedSession {
    const held = this.#sessions.get(id);
    if (held !== undefined) return held;
    const { gateway, onMessage, isStopping } = this.#parts;
    if (isStopping()) throw new ApiError(503, 'It is stopping.', 5);
    if (this.#sessions.size >= most) throw new ApiError(503, `${most} sessions are held already.`);
    const session = gateway.session(id, { onMessage });
    this.#sessions.set(id, session);
    return session;
  }
}

const idOf = (name: string): string => (name.startsWith(sessionPrefix) ? name : `${sessionPrefix}${name}`);
