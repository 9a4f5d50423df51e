import type { FailureFacts } from '../../policy/failures/failure.ts';
import { type CountedFailure, RecentFailures } from '../../policy/records/breakerCause.ts';
import { BreakerCounts } from './breakerCounts.ts';
import type { Call } from '../call.ts';
import type { CallPathOptions, OpenCircuit } from '../callPathOptions.ts';
import type { EffectQueue } from '../recorder/effectQueue.ts';
import type { Fence } from '../attempt.ts';
import { MachineLink, type MachineWatcher } from './machineLink.ts';
import type { FollowedCalls } from './machineSync.ts';
import * as refusal from '../refusal.ts';

/**
 * The circuit of an integration as the call path sees it: what is counted, what is told to the machine that decides, and the probes of an
 * open one.
 */
export class Circuit<I, O> {
  readonly link: MachineLink;
  readonly counts: BreakerCounts;
  /** The last failures that were counted, which are told when it opens. */
  readonly failures = new RecentFailures();
  /** For how long a probe keeps others from probing: other processes, and what asks when to come back. In ms, finite. */
  readonly leaseMs: number;
  /** Time in ms after its start at which a call that probes is ended. Infinite where calls have no limit: one that is slow would never close the circuit. */
  readonly attemptLeaseMs: number;
  /** Time at which the last probe will have answered or lost its lease, in monotonic ms. */
  probeDueAt = 0;
  /** The integration's own harmless probe, while it may close the circuit. */
  probe: Call<I, O> | undefined = undefined;
  readonly #options: CallPathOptions<I, O>;

  /** @param calls - what tells `idle`, `calling` and `backoff` apart. */
  constructor(options: CallPathOptions<I, O>, calls: FollowedCalls, queue: EffectQueue, watcher: MachineWatcher) {
    this.#options = options;
    this.counts = new BreakerCounts(options.policy.breaker, options.streak);
    this.link = new MachineLink(options, this.counts, calls, queue, watcher);
    const { limits, breaker } = options.policy;
    const limitMs = [limits.attemptMs, limits.overallMs].find(Number.isFinite) ?? Number.POSITIVE_INFINITY;
    this.attemptLeaseMs = limitMs + breaker.probeLeaseGraceMs;
    this.leaseMs = Number.isFinite(limitMs) ? this.attemptLeaseMs : breaker.resetTimeoutMs + breaker.probeLeaseGraceMs;
  }

  /** An attempt proved life: it succeeded, or the server answered with an error. */
  answered(fence: Fence): void {
    const { link, counts } = this;
    if (!link.isCurrent(fence)) return;
    if (link.closed) counts.answered(this.#options.clock.now());
    // The machine would ignore an answer while the circuit is closed.
    if (!link.closed || this.#options.everyEvent === true)
      link.send({ type: 'attempt.answered', generation: fence.generation });
  }

  /** An attempt failed, which counts: the circuit may open for it. */
  failed(fence: Fence, { kind, retryAfterMs, probeAfterMs }: FailureFacts, counted: CountedFailure): void {
    if (!this.link.isCurrent(fence)) return;
    // First: the news that the circuit opened says why.
    this.failures.note(counted);
    this.link.recordFailure(fence, kind, probeAfterMs ?? retryAfterMs);
  }

  /** An attempt said nothing of the circuit: it gives back the place of a probe. */
  ignored(fence: Fence): void {
    const { link } = this;
    if ((this.#options.everyEvent === true || link.lastState === 'half-open') && link.isCurrent(fence)) {
      link.send({ type: 'attempt.ignored', generation: fence.generation });
    }
  }

  /** The server asked not to be called for now. @returns whether that is news. */
  pause(pauseMs: number): boolean {
    const { link } = this;
    const until = this.#options.clock.now() + pauseMs;
    if (pauseMs <= 0 || link.lastState === 'crashed' || until <= link.pausedUntil) return false;
    link.send({ type: 'integration.paused', until });
    return true;
  }

  /**
   * Opens or closes as another process has done it. A probe of our own goes on: what it meets is news to the others.
   * @returns whether that changed anything.
   */
  adopt(circuit: OpenCircuit | 'closed'): boolean {
    const { link, failures } = this;
    if (circuit === 'closed' ? link.lastState !== 'open' : !link.closed && link.lastState !== 'open') return false;
    failures.clear();
    if (circuit === 'closed') link.send({ type: 'breaker.closed_elsewhere' });
    else {
      const { openUntil, openings, cause } = circuit;
      // First: the calls that are refused are told why.
      failures.cause = cause;
      link.send({ type: 'breaker.restore', openUntil, openings, rule: cause?.rule });
    }
    return true;
  }

  /** Tells whether a probe would be admitted now. */
  isProbeDue(now: number): boolean {
    const { openUntil, pausedUntil, hasFreeProbe } = this.link;
    return hasFreeProbe && now >= openUntil && now >= pausedUntil;
  }

  /** Takes the place of a probe. @returns whether it was given. */
  requestProbe(now: number): boolean {
    const { claimProbe, everyEvent = false } = this.#options;
    const { link } = this;
    if (!this.isProbeDue(now)) return everyEvent && link.requestProbe(now);
    if (link.lastState === 'open' && claimProbe?.(this.leaseMs) === false) return false;
    return link.requestProbe(now);
  }

  /** Gives the facts that end a call while the circuit is open, with the time of the next probe. */
  refusal(cause: FailureFacts | undefined, now: number): FailureFacts {
    const { lastState, hasFreeProbe, openUntil, pausedUntil } = this.link;
    const isTried = lastState === 'half-open' && !hasFreeProbe;
    const probeAt = lastState !== 'half-open' ? openUntil : isTried ? this.probeDueAt : 0;
    const isPaused = pausedUntil > Math.max(probeAt, now);
    const waitMs = Math.max(probeAt, pausedUntil) - now;
    const keptBy = isPaused ? 'pause' : isTried ? 'probe' : 'time';
    return refusal.circuitOpen(this.#options.name, waitMs, cause, this.failures, keptBy);
  }
}
