import type { FailureFacts } from '../policy/failure.ts';
import type { Attempts } from './attempts.ts';
import type { Call } from './call.ts';
import type { CallPathParts } from './callPathParts.ts';
import type { Doubt } from './doubt.ts';
import type { Endings } from './endings.ts';
import type { MachineLink } from './machineLink.ts';
import type { Places } from './places.ts';
import type { Probing } from './probing.ts';
import * as refusal from './refusal.ts';
import type { Scopes } from './scopes.ts';
import type { Waiting } from './trouble.ts';
import type { Waits } from './waits.ts';

export interface GateParts<I, O>
  extends Pick<CallPathParts<I, O>, 'name' | 'policy' | 'clock' | 'probe' | 'restartInMs'> {
  readonly link: MachineLink;
  readonly places: Places<Call<I, O>>;
  readonly waits: Waits<I, O>;
  readonly endings: Endings<I, O>;
  readonly attempts: Attempts<I, O>;
  readonly probing: Probing<I, O>;
  readonly scopes: Scopes<I, O>;
  readonly doubt: Doubt;
  readonly isStopped: () => boolean;
  /** What ended the thing behind a crashed integration; undefined when it has yet to start. */
  readonly lastCrash: () => FailureFacts | undefined;
}

/** The gate before every attempt: a call passes, waits for what keeps it, or is refused. */
export class Gate<I, O> {
  readonly #parts: GateParts<I, O>;
  #filling = false;

  constructor(parts: GateParts<I, O>) {
    this.#parts = parts;
  }

  /** @param now - the time, where it has just been read: that costs more than all the questions below. */
  proceed(call: Call<I, O>, now = this.#parts.clock.now()): void {
    if (call.settled || call.failed) return;
    const { name, policy, link, places, waits, endings, attempts, scopes, doubt } = this.#parts;
    const { signal } = call.settings;
    if (this.#parts.isStopped()) endings.refuse(call, refusal.stopped(name));
    // It is about to hear of it: another call of the same signal was first.
    else if (signal?.aborted === true) endings.fail(call, refusal.cancelled(signal.reason, false));
    else if (now >= call.overallDue) this.outOfTime(call);
    else if (link.lastState === 'crashed') this.#awaitRestart(call, now);
    else if (link.isOpen) this.#proceedWhileOpen(call, now);
    else if (link.pausedUntil > now) this.#awaitPause(call, now);
    else if (doubt.raised) waits.add(call, 'doubt', call.overallDue);
    else if (scopes.mustWait(call)) this.#awaitScope(call, now);
    else if (places.free) attempts.dispatch(call, now);
    else if (call.trouble.accepted || places.mayQueue) waits.add(call, 'place', call.overallDue);
    else endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
  }

  /** The time of a waiting call has come. */
  waitExpired(call: Call<I, O>, now: number): void {
    const { name, waits, endings, restartInMs, lastCrash } = this.#parts;
    const gaveUpRestart = call.waiting === 'restart' && now < call.overallDue;
    const gaveUpScope = call.waiting === 'scope' && now < call.overallDue;
    waits.remove(call);
    if (gaveUpScope) endings.refuse(call, refusal.scopeBusy(name, call.settings.scope ?? '', call.trouble.lastFailure));
    else if (gaveUpRestart) endings.refuse(call, refusal.unavailable(name, restartInMs?.(), lastCrash()));
    else this.proceed(call);
  }

  /** The time of a call was over while no attempt was in flight. */
  outOfTime(call: Call<I, O>): void {
    this.#parts.endings.fail(call, call.trouble.lastFailure ?? refusal.notStarted(call.settings.overallMs));
  }

  /** What these calls waited for has come. */
  resume(waiting: Waiting): void {
    for (const call of this.#parts.waits.list(waiting)) {
      if (call.waiting !== waiting) continue;
      this.#parts.waits.remove(call);
      this.proceed(call);
    }
  }

  /** Gives freed places to those who have waited longest. */
  fillPlaces(): void {
    // An answer that comes at once frees its place in here: a loop, or a long queue would overflow the stack.
    if (this.#filling) return;
    this.#filling = true;
    const { link, places, waits } = this.#parts;
    while (places.free && link.closed && !this.#parts.doubt.raised) {
      const next = places.next();
      if (next === undefined) break;
      waits.remove(next);
      this.proceed(next);
    }
    this.#filling = false;
  }

  /** The circuit opened: waiting calls end now, they would only be refused later. Those that were tried keep their failure as the cause. */
  refuseAll(): void {
    const { link, waits, endings, probing } = this.#parts;
    for (const call of waits.list()) {
      // Who heard of it, or of the last refusal, may have closed the circuit again, or be its probe.
      if (!link.isOpen) return;
      const isProbed = call.waiting === 'probe' && link.lastState === 'half-open';
      // What has restarted with an open circuit may be due for a probe.
      const mayProbe = call.waiting === 'restart' && probing.isDue();
      if (call.waiting !== undefined && !isProbed && !mayProbe)
        endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    }
    this.resume('restart');
  }

  /** A probe neither closed nor opened the circuit (it was told to wait): it helps nobody who waited for it. */
  refuseProbeWaiters(): void {
    const { link, waits, endings, probing } = this.#parts;
    for (const call of waits.list('probe')) {
      if (link.lastState !== 'half-open') return;
      if (call.waiting === 'probe') endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    }
  }

  #proceedWhileOpen(call: Call<I, O>, now: number): void {
    const { name, policy, link, places, endings, attempts, probing, scopes } = this.#parts;
    if (this.#parts.probe !== undefined && call.expectedEffect !== 'readOnly') this.#awaitProbe(call);
    else if (scopes.mustWait(call) && probing.isDue(now)) this.#awaitScope(call, now);
    else if (!places.free && probing.isDue(now)) endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
    else if (probing.request(now)) {
      if (!call.failed && places.free) attempts.dispatch(call);
      else {
        // Who heard of the probe may have ended the call, or taken the last place: that of the probe is the next one's.
        link.recordIgnored(link.admission);
        endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
      }
    } else if (link.isOpen) endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure, now));
    else this.proceed(call);
  }

  #awaitProbe(call: Call<I, O>): void {
    const { name, policy, link, waits, endings, probing } = this.#parts;
    probing.start();
    if (call.failed || !link.isOpen) this.proceed(call);
    else if (!probing.isUnderWay) endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    else if (waits.size < policy.maxInFlight) waits.add(call, 'probe', call.overallDue);
    else endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
  }

  #awaitRestart(call: Call<I, O>, now: number): void {
    const newUntil = Math.min(now + this.#parts.policy.restartWaitMs, call.overallDue);
    this.#parts.waits.add(call, 'restart', call.attempts > 0 ? call.overallDue : newUntil);
  }

  /** What ran in the scope before is being ended, which takes its grace at most. */
  #awaitScope(call: Call<I, O>, now: number): void {
    const until = Math.min(now + this.#parts.policy.abortGraceMs, call.overallDue);
    this.#parts.waits.add(call, 'scope', until);
  }

  #awaitPause(call: Call<I, O>, now: number): void {
    const { name, link, waits, endings } = this.#parts;
    const until = link.pausedUntil;
    if (until < call.overallDue) waits.add(call, 'pause', until);
    else endings.fail(call, refusal.paused(name, until - now, call.trouble.lastFailure));
  }
}
