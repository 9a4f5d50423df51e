import type { Clock, Random } from '../src/policy/face.ts';
import type { Takeable } from '../src/sessions/face.ts';
import { findTakeable, lookAtNodes } from './leaseStatements.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';
import type { Rebalance } from './rebalance.ts';

/** Hint that a lease was given back. */
export const releasedHint = 'released';

/** How often it is looked which nodes live while they are few, and with very many, in parts of the life of a lease. */
const oftenest = 1 / 12;
const seldomest = 1 / 4;
/** Number of other nodes up to which it is looked so often: all of them together ask the server as much as these would. */
const few = 10;

/**
 * Time for which a node is seen without any connection until it is declared dead, in parts of the life of a lease: one that lives hears of the loss of
 * its own connection, and renews at once.
 */
const goneFor = 0.05;
/** Time in which all nodes have come back after the server was away, in parts of the life of a lease: they try ten times a second. */
const backIn = 0.4;

/** Interval at which all are asked about though nothing was heard, in lives of a lease: what was told may have been missed. */
const unheardLives = 4;

export interface TakeoversOptions {
  readonly database: PgDatabase;
  readonly clock: Clock;
  readonly random: Random;
  /** The runtime that asks. */
  readonly runtime: string;
  readonly leaseMs: number;
  /** Tells whether it would hear that a lease was given back. */
  readonly hears: () => boolean;
  readonly rebalance: Pick<Rebalance, 'look' | 'claimed'>;
}

/**
 * Watch for sessions of other nodes that can be taken over. Very many may be waited for, so they are asked about when one may have become free: their owner
 * has expired, or a lease was given back. It is often asked which nodes live: they are few.
 */
export class Takeovers {
  readonly #options: TakeoversOptions;
  #owners: ReadonlySet<string> = new Set();
  /** Sessions whose owners those are. */
  #known = new Set<string>();
  #isWoken = false;
  /** Nodes that had no connection when it was last looked, as they were renewed last, and since when. */
  #gone: ReadonlyMap<string, number> = new Map();
  /** Time from which on that says that they are dead: when the server was away it had none of anybody's. */
  #judgesAt: number;
  /** Time when all were asked about, in monotonic ms. */
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: TakeoversOptions) {
    this.#options = options;
    this.#judgesAt = options.clock.now() + backIn * options.leaseMs;
  }

  /** Has the next question be about all: one may have been given back. @param wasAway - its own connection was lost, or hints were. */
  wake(wasAway = false): void {
    this.#isWoken = true;
    if (wasAway) this.#judgesAt = this.#options.clock.now() + backIn * this.#options.leaseMs;
  }

  /** It is this runtime's now: whose it will be is not known. */
  claimed(session: string): void {
    this.#known.delete(session);
    this.#options.rebalance.claimed(session);
  }

  /** Undefined while the database cannot be asked. Never rejects. */
  async ask(sessions: readonly string[]): Promise<Takeable | undefined> {
    const { database, clock, runtime, leaseMs } = this.#options;
    if (sessions.length === 0) return { free: [], againInMs: leaseMs };
    const rows = await database.read(lookAtNodes, [runtime, this.#goneLong()]);
    if (rows === undefined) return undefined;
    const seenAt = clock.now();
    this.#gone = new Map(
      rows.flatMap(({ gone }) => (typeof gone === 'string' ? [[gone, this.#gone.get(gone) ?? seenAt]] : [])),
    );
    const living = new Map(rows.map(({ id, in_ms: inMs }) => [String(id), Number(inMs)]));
    const free = this.#mayBeFree(sessions, living) ? await this.#askAll(sessions) : [];
    if (free === undefined) return undefined;
    this.#rebalance(sessions, rows);
    let firstMs = leaseMs;
    for (const owner of this.#owners) firstMs = Math.min(firstMs, living.get(owner) ?? firstMs);
    for (const since of this.#gone.values()) firstMs = Math.min(firstMs, this.#deadAt(since) - seenAt);
    return { free, againInMs: this.#again(firstMs - (clock.now() - seenAt), rows.length) };
  }

  #goneLong(): readonly string[] {
    const now = this.#options.clock.now();
    return [...this.#gone].flatMap(([node, since]) => (this.#deadAt(since) <= now ? [node] : []));
  }

  /** When a node may be declared dead that was seen without a connection first at `since`, in monotonic ms. */
  #deadAt(since: number): number {
    const { leaseMs, hears } = this.#options;
    return hears() ? Math.max(this.#judgesAt, since + goneFor * leaseMs) : Number.POSITIVE_INFINITY;
  }

  /** Waits for nothing: what is free comes first. */
  #rebalance(sessions: readonly string[], nodes: readonly PgRow[]): void {
    const { rebalance } = this.#options;
    const mostOwned = Math.max(0, ...nodes.map(({ owned }) => Number(owned)));
    void rebalance.look(sessions, mostOwned).then((coming) => {
      for (const session of coming) this.#known.delete(session);
    });
  }

  #mayBeFree(sessions: readonly string[], living: ReadonlyMap<string, number>): boolean {
    const { clock, leaseMs, hears } = this.#options;
    const unheardMs = hears() ? unheardLives * leaseMs : leaseMs;
    if (this.#isWoken || clock.now() - this.#askedAt >= unheardMs) return true;
    for (const owner of this.#owners) if (!living.has(owner)) return true;
    return sessions.some((session) => !this.#known.has(session));
  }

  async #askAll(sessions: readonly string[]): Promise<readonly string[] | undefined> {
    const { database, clock, runtime } = this.#options;
    this.#isWoken = false;
    const askedAt = clock.now();
    const rows = await database.read(findTakeable, [sessions, runtime]);
    if (rows === undefined) {
      this.#isWoken = true;
      return undefined;
    }
    this.#askedAt = askedAt;
    this.#known = new Set(sessions);
    this.#owners = new Set(rows.flatMap(({ owner }) => (owner === null ? [] : [String(owner)])));
    const free: string[] = [];
    for (const { key, reserved } of rows) {
      if (key === null) continue;
      // Others may be quicker, or come too late for what is reserved for them.
      this.#known.delete(String(key));
      if (reserved !== true) free.push(String(key));
    }
    return this.#shuffled(free);
  }

  /** In ms; nodes do not ask at one moment. */
  #again(firstMs: number, others: number): number {
    const { random, leaseMs } = this.#options;
    const part = Math.min(seldomest, oftenest * Math.max(1, others / few));
    const lookMs = part * leaseMs * (0.75 + random() / 4);
    return Math.max(0, Math.min(lookMs, firstMs)) + random() * Math.min(50, leaseMs / 50);
  }

  /** Several nodes that take over from the same one begin with different sessions. */
  #shuffled(sessions: string[]): readonly string[] {
    for (let left = sessions.length; left > 1; left--) {
      const picked = Math.floor(this.#options.random() * left);
      [sessions[left - 1], sessions[picked]] = [sessions[picked] ?? '', sessions[left - 1] ?? ''];
    }
    return sessions;
  }
}
