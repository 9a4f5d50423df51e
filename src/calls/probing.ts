import type { FailureFacts } from '../policy/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { Call } from './call.ts';
import type { CallSettings } from './callSettings.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';

/** How an open circuit is tried: by the next call, or by the integration's own harmless probe, for which calls wait. */
export class Probing<I, O> {
  /** When the last probe will have answered or lost its lease, in monotonic ms. */
  dueAt = 0;
  readonly leaseMs: number;
  readonly #on: Stations<I, O>;
  #harmless: Call<I, O> | undefined = undefined;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
    this.leaseMs = leaseMs(stations.parts.policy);
  }

  /** Whether a probe would be admitted now. */
  isDue(now = this.#on.parts.clock.now()): boolean {
    const { openUntil, pausedUntil, hasFreeProbe } = this.#on.link;
    return hasFreeProbe && now >= openUntil && now >= pausedUntil;
  }

  /** Takes the place of a probe. */
  request(now = this.#on.parts.clock.now()): boolean {
    const { link, parts } = this.#on;
    const { claimProbe, everyEvent = false } = parts;
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
    const { parts, attempts } = this.#on;
    const { limits, retry } = parts.policy;
    const settings: CallSettings<I, O> = {
      ...limits,
      overallMs: Math.min(limits.overallMs, this.leaseMs),
      retry: { ...retry, maxAttempts: 1 },
      effect: 'readOnly',
      label: 'probe',
      session: undefined,
      signal: undefined,
      fallback: undefined,
      isProbe: true,
    };
    const probe = this.#on.makeCall(undefined as I, settings, parts.clock.now(), () => undefined);
    this.#harmless = probe;
    attempts.dispatch(probe);
  }

  /** The circuit is half-open no longer, or the probe has ended: nobody waits for it any more. */
  forget(): void {
    this.#harmless = undefined;
  }

  /** What ends a call while the circuit is open, with the time of the next probe. */
  circuitOpen(cause: FailureFacts | undefined, now = this.#on.parts.clock.now()): FailureFacts {
    const { lastState, hasFreeProbe, openUntil, pausedUntil } = this.#on.link;
    const probeAt = lastState !== 'half-open' ? openUntil : hasFreeProbe ? 0 : this.dueAt;
    const { parts, failures } = this.#on;
    return refusal.circuitOpen(parts.name, Math.max(probeAt, pausedUntil) - now, cause, failures);
  }
}

/** A probe that never settles must give its place back, also where attempts have no limit of their own. */
function leaseMs({ limits, breaker }: IntegrationPolicy): number {
  const { attemptMs, overallMs } = limits;
  const limitMs = [attemptMs, overallMs].find(Number.isFinite) ?? breaker.resetTimeoutMs;
  return limitMs + breaker.probeLeaseGraceMs;
}
