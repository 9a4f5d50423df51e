import type { Clock, Timer } from '../../policy/clock.ts';
import { renewAll } from './leaseStatements.ts';
import type { PgConnections } from './pgConnections.ts';

/** A session as a runtime has claimed it. The token only grows; the id tells it from a token that a restored database gives out anew. */
export interface Lease {
  readonly session: string;
  readonly token: string;
  readonly leaseId: string;
}

/** Of a lease, what our own clock may trust: clocks do not run at quite the same speed. */
const trusted = 0.9;

interface Held {
  readonly token: string;
  /** Until when it is ours without doubt, in monotonic ms. */
  until: number;
}

/**
 * The leases of one runtime. One statement renews all of them, three times in the life of a lease, from the event loop: a runtime whose loop stands still is
 * to lose its sessions. A lease that was not renewed in time counts as lost here before it can be another's.
 */
export class Leases {
  readonly leaseMs: number;
  readonly #connections: PgConnections;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #held = new Map<string, Held>();
  #timer: Timer | undefined = undefined;
  #isClosed = false;

  /** @param owner - the id of the runtime. */
  constructor(connections: PgConnections, clock: Clock, owner: string, leaseMs: number) {
    this.#connections = connections;
    this.#clock = clock;
    this.#owner = owner;
    this.leaseMs = leaseMs;
  }

  /** @param askedAt - when it was asked for, in monotonic ms: the lease began later. */
  claimed({ session, token }: Lease, askedAt: number): void {
    if (this.#isClosed) return;
    this.#held.set(session, { token, until: askedAt + this.leaseMs * trusted });
    this.#arm();
  }

  released({ session, token }: Lease): void {
    if (this.#held.get(session)?.token === token) this.#held.delete(session);
  }

  /** Whether it can still be ours; what says so for certain is the statement that writes. */
  mayHold({ session, token }: Lease): boolean {
    const held = this.#held.get(session);
    return held?.token === token && this.#clock.now() < held.until;
  }

  close(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
    this.#held.clear();
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#held.size === 0) return;
    this.#timer = this.#clock.setTimeout(() => void this.#renew(), this.leaseMs / 3, { ref: false });
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const askedAt = this.#clock.now();
    try {
      const rows = await this.#connections.read(renewAll, [this.#owner, this.leaseMs]);
      const tokens = new Map(rows.map((row) => [String(row['key']), String(row['token'])]));
      for (const [session, held] of this.#held) {
        if (tokens.get(session) === held.token) held.until = askedAt + this.leaseMs * trusted;
      }
    } catch {
      // What is not renewed runs out, here first.
    }
    this.#timer = undefined;
    this.#arm();
  }
}
