import type { Clock, Random } from '../src/policy/face.ts';
import { chooseMoves, slackOf } from './fairShare.ts';
import { findMovable, lockMoves, noteMoves } from './moveStatements.ts';
import type { Transaction } from './pgConnections.ts';
import type { PgDatabase } from './pgDatabase.ts';

/** Sessions that one node takes in the life of a lease, and that leave one owner at a time. */
const mostMoves = 50;
/** For how long a move holds, in lives of a lease. */
const heldLives = 2;
/** Longest wait after decisions that brought nothing, in lives of a lease. */
const longestLives = 32;
/** Sessions that are looked at for one decision. */
const mostLookedAt = 1_000;

export interface RebalanceOptions {
  readonly database: Pick<PgDatabase, 'decide'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The runtime that takes. */
  readonly runtime: string;
  readonly leaseMs: number;
  /** Counts the sessions it owns. */
  readonly owned: () => number;
}

/**
 * Has a node that owns fewer sessions than others take some of theirs. It alone decides on what it takes, one node at a time; the owners give what is
 * idle. Whether it is worth while to count is said by what each node told of itself; what is decided is decided by counts.
 */
export class Rebalance {
  readonly #options: RebalanceOptions;
  #isDeciding = false;
  /** From when on it may decide again, in monotonic ms. */
  #againAt = Number.NEGATIVE_INFINITY;
  #pauseLives = 1;
  /** Last decision, and whether any of it has come. */
  #decided: ReadonlySet<string> = new Set();
  #came = true;

  constructor(options: RebalanceOptions) {
    this.#options = options;
  }

  /** A session is this runtime's now. */
  claimed(session: string): void {
    if (this.#decided.has(session)) this.#came = true;
  }

  /**
   * Decides, if it is time and others own more. Never rejects.
   * @param sessions - those that it would take. @param mostOwned - what the other node that owns most has said it owns.
   * @returns what was decided to come.
   */
  async look(sessions: readonly string[], mostOwned: number): Promise<readonly string[]> {
    const { database, clock, owned, leaseMs, random } = this.#options;
    const isTime = !this.#isDeciding && clock.now() >= this.#againAt;
    if (!isTime || mostOwned - owned() <= slackOf(mostOwned)) return [];
    this.#isDeciding = true;
    const decided = await database.decide((transaction) => this.#decide(transaction, sessions));
    this.#isDeciding = false;
    if (decided === undefined) {
      // Nodes do not try at one moment again.
      this.#againAt = clock.now() + (0.25 + random() / 4) * leaseMs;
      return [];
    }
    const isInVain = decided.length === 0 || !this.#came;
    this.#pauseLives = isInVain ? Math.min(longestLives, 2 * this.#pauseLives) : 1;
    this.#decided = new Set(decided);
    this.#came = decided.length === 0;
    this.#againAt = clock.now() + this.#pauseLives * leaseMs;
    return decided;
  }

  /** @returns undefined where another node decides now. */
  async #decide(transaction: Transaction, sessions: readonly string[]): Promise<readonly string[] | undefined> {
    const { runtime, leaseMs } = this.#options;
    const [lock] = await transaction.run(lockMoves);
    if (lock?.['decides'] !== true) return undefined;
    const rows = await transaction.run(findMovable, [this.#some(sessions), runtime, mostMoves]);
    const loads = rows.flatMap(({ session, node, owned, leaving, waits }) =>
      session === null
        ? [{ node: String(node), owned: Number(owned), leaving: Number(leaving), waits: waits === true }]
        : [],
    );
    const movables = rows.flatMap(({ session, node }) =>
      session === null ? [] : [{ session: String(session), owner: String(node) }],
    );
    const chosen = chooseMoves(runtime, loads, movables, mostMoves).map(({ session }) => session);
    if (chosen.length > 0) await transaction.run(noteMoves, [chosen, runtime, heldLives * leaseMs]);
    return chosen;
  }

  /** Others each time: those of one owner may stand together. */
  #some(sessions: readonly string[]): readonly string[] {
    const first = Math.floor(this.#options.random() * sessions.length);
    return [...sessions.slice(first), ...sessions.slice(0, first)].slice(0, mostLookedAt);
  }
}
