import { type BreakerPolicy, openForMs, openingRule } from '../../policy/breaker.ts';
import { reopeningRule } from '../../policy/breakerRule.ts';
import { type CountedFailure, RecentFailures } from '../../policy/records/breakerCause.ts';
import { BreakerCounts } from './breakerCounts.ts';
import type { Call } from '../call.ts';
import { firstDueOf } from '../limits.ts';
import { RefusalEpisode } from '../recorder/callRecords.ts';

/**
 * The circuit of one tool beside that of its integration: the breaker's pure decisions over counts of its own. It only changes when it is
 * told; whoever tells it says the time, and tells others.
 */
export class ToolCircuit<I, O> {
  /** Holders that keep it open. */
  readonly holders = new Set<object>();
  /** The calls it has refused since it let one pass. */
  readonly refusals = new RefusalEpisode();
  /** Grows with each use; the least recently used circuit is the first to go. */
  used = 0;
  /** The call that tries an open circuit. */
  probe: Call<I, O> | undefined = undefined;
  /** Failures that opened it. */
  readonly failures = new RecentFailures();
  /** In monotonic ms; 0 while it is closed. */
  openUntil = 0;
  readonly #policy: BreakerPolicy;
  readonly #counts: BreakerCounts;
  #openings = 0;

  constructor(policy: BreakerPolicy) {
    this.#policy = policy;
    this.#counts = new BreakerCounts(policy);
  }

  get isIsolated(): boolean {
    return this.holders.size > 0;
  }

  /** True while it keeps calls from passing, or may let one pass to try. */
  get isOpen(): boolean {
    return this.isIsolated || this.openUntil > 0;
  }

  /** Tells whether a call would be refused now. */
  refuses(call: Call<I, O>, now: number): boolean {
    if (this.isIsolated) return true;
    if (this.openUntil === 0 || this.probe === call) return false;
    return this.probe !== undefined || now < this.openUntil;
  }

  /** Time at which a call may try it, in monotonic ms. */
  get probeAt(): number {
    if (this.isIsolated) return Number.POSITIVE_INFINITY;
    const { probe } = this;
    const endsAt = probe?.attempt && firstDueOf(probe, probe.attempt.limitMs, probe.attempt.startedAt);
    return Math.max(this.openUntil, endsAt ?? probe?.due ?? 0);
  }

  /** A call passed its limit. @returns for how long the circuit opens by that, in ms; undefined when it does not. */
  failed(call: Call<I, O>, failure: CountedFailure, now: number): number | undefined {
    const isOpen = this.openUntil > 0;
    // Calls from before it opened say nothing new.
    if (isOpen && this.probe !== call) return undefined;
    this.failures.note(failure);
    const tally = this.#counts.failed(now);
    const rule = isOpen ? reopeningRule(this.failures.cause?.rule) : openingRule(failure.kind, tally, this.#policy);
    if (rule === undefined) return undefined;
    this.probe = undefined;
    this.failures.opened(rule);
    const openMs = openForMs(this.#policy, this.#openings++);
    this.openUntil = now + openMs;
    return openMs;
  }

  /** A call ended within its limit. @returns whether nothing of a failure is left. */
  answered(call: Call<I, O>, now: number): boolean {
    if (this.openUntil > 0 && this.probe !== call) return false;
    if (this.openUntil > 0) this.close();
    this.#counts.answered(now);
    return this.#counts.isClean(now);
  }

  close(): void {
    this.openUntil = 0;
    this.#openings = 0;
    this.probe = undefined;
    this.failures.clear();
    this.#counts.clear();
  }
}
