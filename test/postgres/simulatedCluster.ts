import type { Random } from '../../src/policy/clock.ts';
import type { Transaction } from '../../postgres/pgConnections.ts';
import type { PgRow } from '../../postgres/pgDriver.ts';
import { Rebalance } from '../../postgres/rebalance.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

export const leaseMs = 2_500;

interface SimulatedNode {
  readonly id: string;
  readonly rebalance: Rebalance;
  /** Sessions that it would have. */
  readonly wants: ReadonlySet<string>;
  /** What it said with its last renewal. */
  said: number;
  /** Dead ones expire a life later. */
  expiresAt: number;
  isDead: boolean;
  /** Has it look at once, while it waits for its next look. */
  wake: () => void;
}

interface Load {
  owned: number;
  leaving: number;
}

interface SimulatedSession {
  owner: string | undefined;
  busyUntil: number;
  hasMail: boolean;
  freeSince: number | undefined;
}

/**
 * Nodes that share sessions by the code that decides on moves, over a table of leases and one of moves in memory. Each statement sees one moment, and
 * its answer takes its time; so do to give and to claim, and what nodes say of themselves is as old as their last renewal.
 */
export class SimulatedCluster {
  readonly clock = new SimulatedClock();
  readonly sessions = new Map<string, SimulatedSession>();
  readonly nodes = new Map<string, SimulatedNode>();
  /** Sessions that were given, in order. */
  readonly given: string[] = [];
  /** The least by which one move has lowered the sum of squares. */
  leastFall = Number.POSITIVE_INFINITY;
  /** Longest time for which a session was nobody's while a node that wants it lived, in ms. */
  longestFreeMs = 0;
  readonly #moves = new Map<string, { readonly heir: string; readonly until: number }>();
  readonly #random: Random;
  /** Of sessions whose owner gives them: they get mail before their heir has them, so often. */
  readonly #mailRatio: number;
  #lockedBy: string | undefined = undefined;
  /** What was counted for the decision that is being made, and the owners of what may move. */
  #counted: ReadonlyMap<string, Load> = new Map();
  readonly #asked = new Map<string, string>();
  #names = 0;

  constructor(random: Random, ids: readonly string[], mailRatio = 0.02) {
    this.#random = random;
    this.#mailRatio = mailRatio;
    for (const id of ids) this.sessions.set(id, { owner: undefined, busyUntil: 0, hasMail: false, freeSince: 0 });
  }

  join(wants: Iterable<string> = this.sessions.keys()): string {
    const id = `node-${this.#names++}`;
    const database = { decide: <T>(work: (t: Transaction) => Promise<T>) => this.#transact(id, work) };
    const owned = (): number => this.owned(id).length;
    const rebalance = new Rebalance({ database, clock: this.clock, random: this.#random, runtime: id, leaseMs, owned });
    const expiresAt = this.clock.now() + leaseMs;
    const node = { id, rebalance, wants: new Set(wants), said: 0, expiresAt, isDead: false, wake: () => undefined };
    this.nodes.set(id, node);
    void this.#renewals(node);
    void this.#looks(node);
    return id;
  }

  /** It ends with a word, or without one: then its sessions are its own until its lease has run out. */
  leave(id: string, isKilled: boolean): void {
    const node = this.nodes.get(id);
    if (node === undefined) return;
    node.isDead = true;
    if (isKilled) return;
    node.expiresAt = this.clock.now();
    for (const session of this.owned(id)) this.#free(session);
    this.#wakeAll();
  }

  owned(node: string): readonly string[] {
    return [...this.sessions].flatMap(([id, { owner }]) => (owner === node ? [id] : []));
  }

  /** How many sessions each node that lives owns, fewest first. */
  get counts(): readonly number[] {
    return this.#live()
      .map(({ id }) => this.owned(id).length)
      .sort((one, other) => one - other);
  }

  keepBusy(session: string, ms: number): void {
    const known = this.sessions.get(session);
    if (known !== undefined) known.busyUntil = this.clock.now() + ms;
  }

  #live(): readonly SimulatedNode[] {
    return [...this.nodes.values()].filter(({ expiresAt }) => expiresAt > this.clock.now());
  }

  #isLive(id: string | undefined): boolean {
    return id !== undefined && (this.nodes.get(id)?.expiresAt ?? 0) > this.clock.now();
  }

  #delay(fromMs: number, toMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.setTimeout(resolve, fromMs + this.#random() * (toMs - fromMs));
    });
  }

  async #renewals(node: SimulatedNode): Promise<void> {
    while (!node.isDead) {
      node.said = this.owned(node.id).length;
      node.expiresAt = this.clock.now() + leaseMs;
      for (const [session, { heir }] of this.#moves) {
        if (this.sessions.get(session)?.owner === node.id && heir !== node.id && this.#holds(session)) {
          void this.#give(node, session);
        }
      }
      await this.#delay(leaseMs / 3 - 50, leaseMs / 3 + 50);
    }
  }

  async #looks(node: SimulatedNode): Promise<void> {
    while (!node.isDead) {
      await this.#look(node);
      await new Promise<void>((resolve) => {
        const timer = this.clock.setTimeout(resolve, leaseMs * (0.16 + this.#random() * 0.08));
        node.wake = () => {
          this.clock.clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #look(node: SimulatedNode): Promise<void> {
    await this.#delay(1, 20);
    const others = this.#live().filter(({ id }) => id !== node.id);
    const wanted = [...node.wants].filter((session) => this.sessions.get(session)?.owner !== node.id);
    if (wanted.length === 0) return;
    void node.rebalance.look(wanted, Math.max(0, ...others.map(({ said }) => said)));
    const free = wanted.filter((session) => this.#isFreeFor(session, node.id));
    free.sort(() => this.#random() - 0.5);
    for (let first = 0; first < free.length; first += 100) {
      await this.#delay(5, 40);
      for (const session of free.slice(first, first + 100)) this.#claim(session, node);
    }
  }

  #claim(session: string, node: SimulatedNode): void {
    const known = this.sessions.get(session);
    if (node.isDead || known === undefined || !this.#isFreeFor(session, node.id)) return;
    known.owner = node.id;
    known.hasMail = false;
    if (known.freeSince !== undefined) {
      this.longestFreeMs = Math.max(this.longestFreeMs, this.clock.now() - known.freeSince);
    }
    known.freeSince = undefined;
    this.#moves.delete(session);
    node.rebalance.claimed(session);
  }

  #isFreeFor(session: string, node: string): boolean {
    const { owner, hasMail } = this.sessions.get(session) ?? {};
    if (owner !== undefined) return !this.#isLive(owner);
    return hasMail === true || !this.#holds(session) || this.#moves.get(session)?.heir === node;
  }

  #holds(session: string): boolean {
    const move = this.#moves.get(session);
    return move !== undefined && move.until > this.clock.now() && this.#isLive(move.heir);
  }

  async #give(node: SimulatedNode, session: string): Promise<void> {
    const known = this.sessions.get(session);
    if (known === undefined || known.busyUntil > this.clock.now()) return;
    await this.#delay(2, 40);
    if (known.owner !== node.id || node.isDead) return;
    this.given.push(session);
    known.hasMail = this.#random() < this.#mailRatio;
    this.#free(session);
    this.#wakeAll();
  }

  #free(session: string): void {
    const known = this.sessions.get(session);
    if (known === undefined) return;
    known.owner = undefined;
    known.freeSince = this.clock.now();
  }

  #wakeAll(): void {
    for (const node of this.nodes.values()) node.wake();
  }

  async #transact<T>(id: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const run = async (name: string, values: readonly unknown[]): Promise<readonly PgRow[]> => {
      await this.#delay(1, 10);
      const rows = this.#answer(id, name, values);
      await this.#delay(1, 30);
      return rows;
    };
    try {
      return await work({ run: ({ name }, values = []) => run(name, values), script: () => Promise.resolve() });
    } finally {
      if (this.#lockedBy === id) this.#lockedBy = undefined;
    }
  }

  #answer(id: string, name: string, values: readonly unknown[]): readonly PgRow[] {
    if (name === 'lock_moves') {
      this.#lockedBy ??= id;
      return [{ decides: this.#lockedBy === id }];
    }
    if (name === 'find_movable') return this.#movable(values as [readonly string[], string, number]);
    if (name === 'note_moves') this.#note(values as [readonly string[], string, number]);
    return [];
  }

  #placeOf(session: string): string | undefined {
    const owner = this.sessions.get(session)?.owner;
    return this.#holds(session) ? this.#moves.get(session)?.heir : owner;
  }

  /** What each node owns, with what is on its way to it, and what is leaving it. */
  #loads(): ReadonlyMap<string, Load> {
    const loads = new Map(this.#live().map(({ id }) => [id, { owned: 0, leaving: 0 }]));
    for (const [session, { owner = '' }] of this.sessions) {
      const place = this.#placeOf(session) ?? '';
      const [at, from] = [loads.get(place), loads.get(owner)];
      if (at !== undefined) at.owned++;
      if (from !== undefined && place !== owner) from.leaving++;
    }
    return loads;
  }

  #movable([wanted, taker, most]: [readonly string[], string, number]): readonly PgRow[] {
    this.#counted = this.#loads();
    const loads = this.#live().map(({ id, said, wants }) => {
      return {
        session: null,
        node: id,
        waits: said < wants.size,
        ...(this.#counted.get(id) ?? { owned: 0, leaving: 0 }),
      };
    });
    const counts = new Map<string, number>();
    const idle = wanted.flatMap((session) => {
      const { owner = '', busyUntil = 0 } = this.sessions.get(session) ?? {};
      if (owner === taker || !this.#isLive(owner) || this.#holds(session) || busyUntil > this.clock.now()) return [];
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
      this.#asked.set(session, owner);
      return (counts.get(owner) ?? 0) > most ? [] : [{ session, node: owner, waits: null, owned: null, leaving: null }];
    });
    return [...loads, ...idle];
  }

  #note([chosen, heir, forMs]: [readonly string[], string, number]): void {
    const owned = new Map([...this.#counted].map(([node, load]) => [node, load.owned]));
    for (const session of chosen) {
      const owner = this.#asked.get(session) ?? '';
      const [from, to] = [owned.get(owner) ?? 0, owned.get(heir) ?? 0];
      this.leastFall = Math.min(this.leastFall, from ** 2 + to ** 2 - (from - 1) ** 2 - (to + 1) ** 2);
      owned.set(owner, from - 1).set(heir, to + 1);
      this.#moves.set(session, { heir, until: this.clock.now() + forMs });
    }
  }
}
