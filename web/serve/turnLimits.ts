import type { AgentEvent } from '../../agents/conversation/agentTypes.ts';
import type { InnerLimit } from '../../src/calls/innerLimits.ts';
import type { Clock } from '../../src/policy/clock.ts';
import type { Limits } from '../../src/policy/policy.ts';

/** Limits of the agent that answers a turn, and when they end it, as far as its events tell. */
export class TurnLimits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limitsOf: (agent: string) => Limits | undefined;
  #agent: string;
  #startedAt: number;
  #attemptAt: number;
  #heardAt: number;

  /** @param agent - that begins. */
  constructor(clock: Pick<Clock, 'now'>, limitsOf: (agent: string) => Limits | undefined, agent: string) {
    this.#clock = clock;
    this.#limitsOf = limitsOf;
    this.#agent = agent;
    this.#startedAt = this.#attemptAt = this.#heardAt = clock.now();
  }

  heard(event: AgentEvent): void {
    this.#heardAt = this.#clock.now();
    if (event.type === 'retrying' && event.by === 'unwedge') this.#attemptAt = this.#heardAt + (event.delayMs ?? 0);
    if (event.type !== 'fell_back') return;
    this.#agent = event.to;
    this.#startedAt = this.#attemptAt = this.#heardAt;
  }

  now(): readonly InnerLimit[] {
    const limits = this.#limitsOf(this.#agent);
    if (limits === undefined) return [];
    const all = [
      { of: this.#agent, rule: 'idle_timeout', due: this.#heardAt + limits.idleMs },
      { of: this.#agent, rule: 'attempt_timeout', due: this.#attemptAt + limits.attemptMs },
      { of: this.#agent, rule: 'overall_timeout', due: this.#startedAt + limits.overallMs },
    ] as const;
    // A limit that has passed does not run: the agent waits for a place, or for its next attempt.
    const now = this.#clock.now();
    return all.filter(({ due }) => Number.isFinite(due) && due > now);
  }
}
