import type { FailureFacts } from '../policy/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { Call, CallSettings } from './call.ts';
import type { CallPathParts } from './callPathParts.ts';
import type { MachineLink } from './machineLink.ts';
import * as refusal from './refusal.ts';

export interface ProbingParts<I, O>
  extends Pick<CallPathParts<I, O>, 'name' | 'policy' | 'clock' | 'claimProbe' | 'everyEvent'> {
  readonly link: MachineLink;
  /** Makes the row of a harmless probe. */
  makeProbe(settings: CallSettings<I, O>): Call<I, O>;
  dispatch(probe: Call<I, O>): void;
}

/** How an open circuit is tried: by the next call, or by the integration's own harmless probe, for which calls wait. */
export class Probing<I, O> {
  /** When the last probe will have answered or lost its lease, in monotonic ms. */
  dueAt = 0;
  readonly leaseMs: number;
  readonly #parts: ProbingParts<I, O>;
  #harmless: Call<I, O> | undefined = undefined;

  constructor(parts: ProbingParts<I, O>) {
    this.#parts = parts;
    this.leaseMs = leaseMs(parts.policy);
  }

  /** Whether a probe would be admitted now. */
  isDue(now = this.#parts.clock.now()): boolean {
    const { openUntil, pausedUntil, hasFreeProbe } = this.#parts.link;
    return hasFreeProbe && now >= openUntil && now >= pausedUntil;
  }

  /** Takes the place of a probe. */
  request(now = this.#parts.clock.now()): boolean {
    const { link, claimProbe, everyEvent = false } = this.#parts;
    if (!this.isDue(now)) return everyEvent && link.requestProbe(now);
    if (link.lastState === 'open' && claimProbe?.(this.leaseMs) === false) return false;
    return link.requestProbe(now);
  }

  /** Whether a harmless probe is under way that may close the circuit. */
  get isUnderWay(): boolean {
    return this.#harmless !== undefined;
  }

  isTheProbe(call: Call<I, O>): boolean {
    return this.#harmless === call;
  }

  /** Sends a harmless probe, if one is due and none is under way. */
  start(): void {
    if (this.isUnderWay || !this.request()) return;
    const { limits, retry } = this.#parts.policy;
    const probe = this.#parts.makeProbe({
      ...limits,
      overallMs: Math.min(limits.overallMs, this.leaseMs),
      retry: { ...retry, maxAttempts: 1 },
      effect: 'readOnly',
      label: 'probe',
      session: undefined,
      signal: undefined,
      fallback: undefined,
      isProbe: true,
    });
    this.#harmless = probe;
    this.#parts.dispatch(probe);
  }

  /** The circuit is half-open no longer, or the probe has ended: nobody waits for it any more. */
  forget(): void {
    this.#harmless = undefined;
  }

  /** What ends a call while the circuit is open, with the time of the next probe. */
  circuitOpen(cause: FailureFacts | undefined, now = this.#parts.clock.now()): FailureFacts {
    const { lastState, hasFreeProbe, openUntil, pausedUntil } = this.#parts.link;
    const probeAt = lastState !== 'half-open' ? openUntil : hasFreeProbe ? 0 : this.dueAt;
    return refusal.circuitOpen(this.#parts.name, Math.max(probeAt, pausedUntil) - now, cause);
  }
}

/** A probe that never settles must give its place back, also where attempts have no limit of their own. */
function leaseMs({ limits, breaker }: IntegrationPolicy): number {
  const { attemptMs, overallMs } = limits;
  const limitMs = [attemptMs, overallMs].find(Number.isFinite) ?? breaker.resetTimeoutMs;
  return limitMs + breaker.probeLeaseGraceMs;
}
