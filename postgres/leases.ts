import type { Clock, Timer } from '../src/policy/face.ts';
import type { Move } from '../src/sessions/face.ts';
import { enterNode, renewNode } from './leaseStatements.ts';
import type { NodeConnection } from './nodeConnection.ts';
import type { PgConnections } from './pgConnections.ts';
import type { PgRow } from './pgDriver.ts';

/** A session as a runtime has claimed it. The token only grows; the id tells it from a token that a restored database gives out anew. */
export interface Lease {
  readonly session: string;
  readonly token: string;
  readonly leaseId: string;
}

/** The lease of a node, as it was last renewed. */
interface Term {
  /** Time when that was asked for, in monotonic ms: it began later. */
  readonly askedAt: number;
  /** Time when the next one is overdue, in ms from its begin: the node may be declared dead then, if its presence is gone. */
  readonly dueMs: number;
}

/** Part of a term that our own clock may trust: clocks do not run at quite the same speed. */
const trusted = 0.9;
/** Time until a renewal that failed is tried again, in ms. */
const retryMs = 100;

interface Held {
  readonly token: string;
  lost: (() => void) | undefined;
}

/** Description of a node. */
export interface NodeDescription {
  readonly host: string;
  readonly pid: number;
  readonly name: string;
}

export interface LeasesOptions {
  /** Renewals have a connection of their own, which no long read holds up. */
  readonly connections: PgConnections;
  readonly node: Pick<NodeConnection, 'isPresent' | 'onLost'>;
  readonly clock: Clock;
  /** The id of the runtime, which is that of the node. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly describe: () => NodeDescription;
}

/**
 * The sessions of one runtime, and its lease as a node, which all of them share. It is renewed three times in its life, from the event loop: a runtime
 * whose loop stands still is to lose its sessions. When it was not renewed in time, or had expired, all sessions are lost here at once, before they
 * can be another's. Then the node begins anew.
 */
export class Leases {
  readonly leaseMs: number;
  /** Sessions that this runtime would take and that another one owns, for others to see. */
  waiting = 0;
  readonly #options: LeasesOptions;
  readonly #held = new Map<string, Held>();
  readonly #askers = new Set<(moves: readonly Move[]) => void>();
  readonly #leaveNode: () => void;
  #term: Term | undefined = undefined;
  /** Counts the lives of the node. */
  #life = 0;
  #renewMs = 0;
  #flight: Promise<void> | undefined = undefined;
  #renewing: Timer | undefined = undefined;
  #ending: Timer | undefined = undefined;
  #isClosed = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.leaseMs = options.leaseMs;
    // Leases that were renewed while its presence was held may end early from now on.
    this.#leaveNode = options.node.onLost(() => {
      this.#planEnd();
      this.#planRenewal(0);
    });
    this.#planRenewal(0);
  }

  /** Number of sessions it holds. */
  get owned(): number {
    return this.#held.size;
  }

  /** Resolves when the node has entered: with its life, which a claim is for; undefined when it could not. Never rejects. */
  async entered(): Promise<number | undefined> {
    if (!this.#isAlive()) await this.#renewNow();
    return this.#isAlive() ? this.#life : undefined;
  }

  /** Takes in what was claimed. @param life - in which that was asked for. @returns whether it still is the same. */
  claimed({ session, token }: Lease, life: number): boolean {
    if (life !== this.#life || !this.#isAlive()) return false;
    this.#held.set(session, { token, lost: undefined });
    return true;
  }

  /** @param lost - told once when it is ours no more, without having been given back. Must not throw. */
  watch({ session, token }: Lease, lost: () => void): void {
    const held = this.#held.get(session);
    if (held?.token === token) held.lost = lost;
    else lost();
  }

  /** @param asker - told of sessions that are to be given to other nodes, with each renewal until they are. Must not throw. @returns how it leaves. */
  onAsked(asker: (moves: readonly Move[]) => void): () => void {
    this.#askers.add(asker);
    return () => void this.#askers.delete(asker);
  }

  released({ session, token }: Lease): void {
    if (this.#held.get(session)?.token === token) this.#held.delete(session);
  }

  /** Tells whether it can still be ours; what says so for certain is the statement that writes. */
  mayHold({ session, token }: Lease): boolean {
    return this.#held.get(session)?.token === token && this.#isAlive();
  }

  /** The node leaves: nothing is renewed any more, and nothing is lost. */
  close(): void {
    this.#isClosed = true;
    const { clock } = this.#options;
    clock.clearTimeout(this.#renewing);
    clock.clearTimeout(this.#ending);
    this.#leaveNode();
    this.#held.clear();
    this.#term = undefined;
  }

  #isAlive(): boolean {
    return this.#options.clock.now() < this.#endAt();
  }

  /** Until when the node lives without doubt, in monotonic ms. */
  #endAt(): number {
    if (this.#term === undefined) return Number.NEGATIVE_INFINITY;
    const { node, owner, leaseMs } = this.#options;
    const { askedAt, dueMs } = this.#term;
    return askedAt + trusted * (node.isPresent(owner) ? leaseMs : dueMs);
  }

  #planEnd(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#ending);
    this.#ending = undefined;
    if (this.#term === undefined || this.#isClosed) return;
    const end = (): void => (this.#isAlive() ? this.#planEnd() : this.#end());
    this.#ending = clock.setTimeout(end, Math.max(0, this.#endAt() - clock.now()));
  }

  #end(): void {
    this.#term = undefined;
    this.#life++;
    const lost = [...this.#held.values()];
    this.#held.clear();
    for (const held of lost) held.lost?.();
  }

  #planRenewal(delayMs: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    clock.clearTimeout(this.#renewing);
    this.#renewing = clock.setTimeout(() => void this.#renewNow(), Math.max(0, delayMs));
  }

  #renewNow(): Promise<void> {
    this.#flight ??= this.#renew().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    if (this.#isClosed) return;
    const { connections, clock, node, owner, leaseMs, describe } = this.#options;
    // Nobody is declared dead who holds no presence.
    const term = { askedAt: clock.now(), dueMs: node.isPresent(owner) ? Math.floor(leaseMs / 2) : leaseMs };
    const values = [owner, leaseMs, term.dueMs, this.#held.size, this.waiting, this.#renewMs];
    const { host, pid, name } = describe();
    const isNew = this.#term === undefined;
    try {
      const rows = await (isNew
        ? connections.read(enterNode, [...values, host, pid, name])
        : connections.read(renewNode, values));
      if (this.#isClosed) return;
      this.#renewMs = Math.round(clock.now() - term.askedAt);
      if (rows.length === 0) this.#end();
      else this.#term = term;
      this.#planEnd();
      this.#planRenewal(rows.length === 0 ? 0 : term.askedAt + leaseMs / 3 - clock.now());
      const moves = movesIn(rows[0]);
      if (moves.length > 0) for (const asker of this.#askers) asker(moves);
    } catch {
      // A lease that is not renewed runs out, here first.
      this.#planRenewal(retryMs);
    }
  }
}

function movesIn(row: PgRow | undefined): readonly Move[] {
  const moves = row?.['moves'];
  if (typeof moves !== 'string') return [];
  return (JSON.parse(moves) as readonly (readonly [string, string])[]).map(([session, to]) => ({ session, to }));
}
