import type { Clock, Timer } from '../policy/clock.ts';
import type { Facts } from '../policy/facts/facts.ts';
import { type Logger, say } from '../policy/text/logger.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import type { SessionStore } from '../sessions/sessionStore.ts';

/** Interval at which sessions that nobody has are looked for, in ms, where the store does not say. */
const lookEveryMs = 10_000;
/** Sessions that are taken up at a look. */
const mostAtOnce = 500;
/** Time after the start at which a gateway that takes none up says that there are some, in ms: it may declare them until then, or others take them. */
const sayAfterMs = 5000;
/** Time until the next look where there may be more, in ms: what was taken up is being claimed meanwhile. */
const soonMs = 50;

interface AdoptionParts {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly facts: Facts;
  /** Tells whether this gateway has a session. */
  readonly has: (session: string) => boolean;
}

/** Makes a session that nobody has; false leaves it to others. */
type Adopt = (session: string) => boolean;

/** Takes up sessions that have something to do and that no gateway has. Without {@link Adoption.by} it does nothing. */
export class Adoption {
  readonly #parts: AdoptionParts;
  #adopt: Adopt | undefined = undefined;
  #store: SessionStore | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #isStopped = false;
  #isLooking = false;
  /** Sessions that were left to others: they do not stand in the way of the rest. */
  readonly #left = new Set<string>();
  readonly #failed = new Set<string>();
  #saidFailure = false;

  constructor(parts: AdoptionParts) {
    this.#parts = parts;
  }

  get isAsked(): boolean {
    return this.#adopt !== undefined;
  }

  /** Sessions that could not be taken up when it was tried last. */
  get failed(): ReadonlySet<string> {
    return this.#failed;
  }

  /** @param adopt - may throw; that is said once, and leaves the session to others. */
  by(adopt: Adopt): void {
    this.#adopt = adopt;
    if (this.#store !== undefined) void this.look();
  }

  /** The store is open; resolves when those were made that nobody has now. Never rejects. */
  async start(store: SessionStore): Promise<void> {
    this.#store = store;
    if (this.#adopt === undefined)
      this.#timer = this.#parts.clock.setTimeout(() => void this.#sayLeft(), sayAfterMs, { ref: false });
    else await this.look();
  }

  /** Says what was acknowledged and nobody delivers. */
  async #sayLeft(): Promise<void> {
    const store = this.#store;
    if (store === undefined || this.#adopt !== undefined) return;
    const found = (await store.unowned(mostAtOnce)).filter((session) => !this.#parts.has(session));
    const [first] = found;
    if (first === undefined || this.#isStopped) return;
    this.#parts.facts.tell({ type: 'session.unclaimed', session: first, sessions: found.length });
  }

  /** Looks now, as somebody may have left some. Never rejects. */
  async look(): Promise<void> {
    const adopt = this.#adopt;
    const store = this.#store;
    if (adopt === undefined || store === undefined || this.#isStopped || this.#isLooking) return;
    this.#isLooking = true;
    this.#parts.clock.clearTimeout(this.#timer);
    const most = mostAtOnce + this.#left.size;
    const found = await store.unowned(most);
    this.#isLooking = false;
    if (this.#isStopped) return;
    this.#failed.clear();
    for (const session of found) {
      if (this.#parts.has(session)) continue;
      if (this.#make(adopt, session)) this.#left.delete(session);
      else this.#left.add(session);
    }
    const delayMs = found.length === most ? soonMs : (store.claimEveryMs ?? lookEveryMs);
    this.#timer = this.#parts.clock.setTimeout(() => void this.look(), delayMs, { ref: false });
  }

  stop(): void {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
  }

  #make(adopt: Adopt, session: string): boolean {
    try {
      return adopt(session);
    } catch (error) {
      const text = `The session ${session} has something to do, and cannot be taken up: ${messageOf(error)}`;
      if (!this.#saidFailure) say(this.#parts.logger, 'error', text);
      this.#saidFailure = true;
      this.#failed.add(session);
      return false;
    }
  }
}
