import type { SessionScope } from './sessionScope.ts';

/** Reports on a session that gets away from a turn without progress: that it stalled, and how its release went. */
export class TurnRecovery {
  readonly #scope: SessionScope;
  #stalledAt: number | undefined = undefined;

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  stalled(turn: number): void {
    const { id: session, clock, facts, watchdog } = this.#scope;
    const limitMs = watchdog.turnMs;
    this.#stalledAt = clock.now();
    facts.tell({ type: 'session.watchdog_fired', session, turn, rule: 'turn', limitMs });
  }

  /** The same of a turn whose end others told of. */
  cancelled(): void {
    this.#stalledAt = this.#scope.clock.now();
  }

  recovered(turn: number): void {
    const { id: session, facts } = this.#scope;
    facts.tell({ type: 'session.recovered', session, turn, releasedAfterMs: this.#end() ?? 0 });
  }

  /** The session's actor was restarted; tells only of a release that was under way. */
  failed(turn: number): void {
    const { id: session, facts } = this.#scope;
    const afterMs = this.#end();
    if (afterMs !== undefined) facts.tell({ type: 'session.recovery_failed', session, turn, afterMs });
  }

  /** @returns how long the release has taken, in ms. */
  #end(): number | undefined {
    const since = this.#stalledAt;
    this.#stalledAt = undefined;
    return since === undefined ? undefined : this.#scope.clock.now() - since;
  }
}
