import type { FailureKind } from '../../src/policy/failures/failure.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';

export type Circuit = 'closed' | 'open' | 'half-open' | 'crashed';

/** What a failed attempt means to the circuit; after the requirements, not after the runtime's table. */
export function meaningOf(kind: FailureKind): 'failure' | 'alive' | 'ignored' {
  if (kind === 'auth' || kind === 'permanent') return 'alive';
  const ignored: readonly FailureKind[] = [
    'cancelled',
    'rate_limit',
    'circuit_open',
    'too_many_requests',
    'unavailable',
  ];
  return ignored.includes(kind) ? 'ignored' : 'failure';
}

/**
 * The circuit of an integration as the requirements say it is (M-2 … M-8, M-11, M-13), kept from what the other side and the
 * operator did. It shares no code with the runtime.
 */
export class CircuitModel {
  state: Circuit = 'crashed';
  /** States since the last {@link forgetSeen}: what may have decided a call within a step. */
  readonly seen = new Set<Circuit>(['crashed']);
  generation = 0;
  openUntil = 0;
  isolations = 0;
  pausedUntil = 0;
  /** The latest end of any pause, lifted ones too: who waits for one is not told. */
  latestPause = 0;
  probing = 0;
  openings = 0;
  /** A probe was admitted, and has not started yet. */
  #reserved = 0;
  /** The thing behind it is down. */
  down = false;
  /** Its actor has crashed and has no next incarnation yet; before the start it has none either. */
  dead = true;
  /** More work goes on than may be replaced. */
  overwhelmed = false;
  abandoned = 0;
  #forgiven = 0;
  #consecutive = 0;
  #window: { readonly at: number; readonly failed: boolean }[] = [];
  readonly #policy: IntegrationPolicy;

  constructor(policy: IntegrationPolicy) {
    this.#policy = policy;
  }

  /** Asks whether an attempt may start now; says why not. A probe takes its place. */
  admit(now: number): string | undefined {
    if (this.state === 'crashed') return 'it has crashed';
    if (this.state === 'open') {
      const refused = this.halfOpen(now);
      if (refused !== undefined) return refused;
    }
    if (now < this.pausedUntil) return `it is paused until ${this.pausedUntil}`;
    if (this.state === 'closed') return undefined;
    this.#reserved = 0;
    this.probing++;
    const { probes } = this.#policy.breaker;
    return this.probing > probes ? `${probes} probes are in flight` : undefined;
  }

  /** Asks whether an open circuit may be probed from now on; says why not. */
  halfOpen(now: number): string | undefined {
    if (this.state !== 'open') return `it is ${this.state}`;
    if (this.isolations > 0) return `it is isolated ${this.isolations} times`;
    if (now < this.openUntil) return `its circuit is open until ${this.openUntil}`;
    this.#move('half-open');
    this.#reserved = 1;
    return undefined;
  }

  /** Whether the next call is to be made as a probe. */
  mayBeProbed(now: number): boolean {
    if (now < this.pausedUntil || this.isolations > 0) return false;
    if (this.state === 'open') return now >= this.openUntil;
    return this.state === 'half-open' && this.probing + this.#reserved < this.#policy.breaker.probes;
  }

  alive(generation: number, now: number): void {
    if (generation !== this.generation) return;
    if (this.state === 'half-open') this.#close();
    else this.#record(false, now);
  }

  failed(generation: number, now: number, kind: FailureKind, hintMs: number | undefined): void {
    if (generation !== this.generation) return;
    this.#record(true, now);
    if (this.state === 'half-open' || (this.state === 'closed' && (kind === 'quota' || this.#trips(now)))) {
      this.#open(now, hintMs ?? 0);
    }
  }

  ignored(generation: number): void {
    if (this.state === 'half-open' && generation === this.generation) this.probing--;
  }

  paused(until: number): void {
    if (this.state === 'crashed') return;
    this.pausedUntil = Math.max(this.pausedUntil, until);
    this.latestPause = Math.max(this.latestPause, until);
  }

  /** The thing behind it is gone, or too much of its work goes on. */
  lost(why: 'down' | 'overwhelmed'): void {
    if (why === 'down') {
      this.down = true;
      this.overwhelmed = false;
    } else this.overwhelmed = true;
    this.pausedUntil = 0;
    if (this.state !== 'crashed') this.#move('crashed');
  }

  restarted(): void {
    this.down = false;
    this.#forgiven = this.abandoned;
    this.#comeBack();
  }

  isolate(): void {
    this.isolations++;
    if (this.state !== 'crashed') this.#move('open');
  }

  release(): void {
    this.isolations--;
    if (this.state === 'open' && this.isolations === 0 && this.openings === 0) this.#close();
  }

  reset(): void {
    this.isolations = 0;
    this.pausedUntil = 0;
    this.overwhelmed = false;
    this.#forgiven = this.abandoned;
    this.#forget();
    this.#forgetOpenings();
    if (this.#mayComeBack || this.state === 'open' || this.state === 'half-open') this.#close();
  }

  /** Its actor crashed: it is shown as crashed until the next incarnation. */
  died(): void {
    this.dead = true;
    this.#move('crashed');
  }

  /** The next incarnation: failures in a row still count, isolations are their holders', and an open circuit stays open. */
  reborn(): void {
    this.dead = false;
    this.overwhelmed = false;
    this.pausedUntil = 0;
    this.#window = [];
    this.#move('crashed');
    if (!this.#mayComeBack) return;
    this.#move(this.isolations > 0 || this.openings > 0 ? 'open' : 'closed');
  }

  /** Work that would not end was written off. */
  wroteOff(): void {
    this.abandoned++;
    if (this.abandoned - this.#forgiven > this.#policy.maxAbandoned && this.state !== 'crashed') {
      this.lost('overwhelmed');
    }
  }

  /** Written-off work ended after all. */
  reclaimed(): void {
    this.abandoned--;
    this.#forgiven = Math.min(this.#forgiven, this.abandoned);
    if (this.overwhelmed && this.abandoned - this.#forgiven <= this.#policy.maxAbandoned) this.#comeBack();
  }

  forgetSeen(): void {
    this.#reserved = 0;
    this.seen.clear();
    this.seen.add(this.state);
  }

  get #mayComeBack(): boolean {
    return this.state === 'crashed' && !this.down && !this.dead;
  }

  #comeBack(): void {
    this.overwhelmed = false;
    this.#forgetOpenings();
    if (!this.#mayComeBack) return;
    if (this.isolations > 0) this.#move('open');
    else this.#close();
  }

  #forgetOpenings(): void {
    this.openings = 0;
    this.openUntil = 0;
  }

  #open(now: number, hintMs: number): void {
    const { resetTimeoutMs, openFactor, maxOpenMs } = this.#policy.breaker;
    const grownMs = Math.min(resetTimeoutMs * openFactor ** this.openings, Math.max(maxOpenMs, resetTimeoutMs));
    this.openUntil = now + Math.max(grownMs, Math.min(hintMs, 7 * 24 * 3_600_000));
    this.openings++;
    this.#move('open');
  }

  #close(): void {
    this.#move('closed');
    this.#forgetOpenings();
    this.pausedUntil = 0;
    this.#forget();
  }

  #move(to: Circuit): void {
    this.state = to;
    this.generation++;
    this.probing = 0;
    this.seen.add(to);
  }

  #trips(now: number): boolean {
    const { consecutiveFailures, failureRatio, minimumAttempts, windowMs } = this.#policy.breaker;
    if (this.#consecutive >= consecutiveFailures) return true;
    const window = this.#window.filter(({ at }) => now - at < windowMs);
    const failures = window.filter(({ failed }) => failed).length;
    return window.length >= minimumAttempts && failures / window.length >= failureRatio;
  }

  #record(failed: boolean, at: number): void {
    this.#consecutive = failed ? this.#consecutive + 1 : 0;
    this.#window.push({ at, failed });
    if (this.#window.length > this.#policy.breaker.windowSize) this.#window.shift();
  }

  #forget(): void {
    this.#consecutive = 0;
    this.#window = [];
  }
}
