import type { Clock } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';

export interface ReleaseParts {
  readonly session: string;
  /** Limit of the turn's watchdog, in ms. */
  readonly limitMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly facts: Facts;
}

/** What is told of a session that gets away from a turn without progress: that it stalled, and how its release went. */
export class Release {
  readonly #parts: ReleaseParts;
  #stalledAt: number | undefined = undefined;

  constructor(parts: ReleaseParts) {
    this.#parts = parts;
  }

  stalled(turn: number): void {
    const { session, limitMs, clock, facts } = this.#parts;
    this.#stalledAt = clock.now();
    facts.tell({ type: 'session.watchdog_fired', session, turn, rule: 'turn', limitMs });
  }

  recovered(turn: number): void {
    const { session, facts } = this.#parts;
    facts.tell({ type: 'session.recovered', session, turn, releasedAfterMs: this.#end() ?? 0 });
  }

  /** The session's actor was restarted; tells only of a release that was under way. */
  failed(turn: number): void {
    const { session, facts } = this.#parts;
    const afterMs = this.#end();
    if (afterMs !== undefined) facts.tell({ type: 'session.recovery_failed', session, turn, afterMs });
  }

  /** @returns how long the release has taken, in ms. */
  #end(): number | undefined {
    const since = this.#stalledAt;
    this.#stalledAt = undefined;
    return since === undefined ? undefined : this.#parts.clock.now() - since;
  }
}
