import type { Call } from './call.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';
import type { Waiting } from './trouble.ts';

/** So many calls that a crash took with it are repeated at once after the restart, and as many more every so often, in ms. */
const repeatsAtOnce = 50;
const repeatsEveryMs = 100;

/** The gate before every attempt: a call passes, waits for what keeps it, or is refused. */
export class Gate<I, O> {
  readonly #on: Stations<I, O>;
  #filling = false;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** @param now - the time, where it has just been read: that costs more than all the questions below. */
  proceed(call: Call<I, O>, now = this.#on.parts.clock.now()): void {
    if (call.settled || call.failed) return;
    const { stopped, parts, link, places, waits, endings, attempts, scopes, doubt, tools } = this.#on;
    const { signal } = call.settings;
    if (stopped) endings.refuse(call, refusal.stopped(parts.name));
    // It is about to hear of it: another call of the same signal was first.
    else if (signal?.aborted === true) endings.fail(call, refusal.cancelled(signal.reason, false));
    else if (now >= call.overallDue) this.outOfTime(call);
    else if (!link.closed) this.#proceedWhileNotClosed(call, now);
    else if (tools.size > 0 && tools.refuses(call, now)) return;
    else if (link.pausedUntil > now) this.#awaitPause(call, now);
    else if (doubt.raised) waits.add(call, 'doubt', call.overallDue);
    else if (scopes.mustWait(call)) this.#awaitScope(call, now);
    else if (places.free) attempts.dispatch(call, now);
    else if (call.trouble.accepted || places.mayQueue) waits.add(call, 'place', call.overallDue);
    else endings.refuse(call, refusal.tooMany(parts.name, parts.policy.maxInFlight));
  }

  /** The time of a waiting call has come. */
  waitExpired(call: Call<I, O>, now: number): void {
    const { parts, waits, endings, outage } = this.#on;
    const { name, policy, restartInMs } = parts;
    const { lastFailure } = call.trouble;
    const gaveUpRestart = call.waiting === 'restart' && now < call.overallDue;
    const gaveUpScope = call.waiting === 'scope' && now < call.overallDue;
    waits.remove(call);
    if (gaveUpScope) endings.refuse(call, refusal.scopeBusy(name, call.settings.scope ?? '', lastFailure));
    else if (gaveUpRestart && lastFailure !== undefined)
      endings.fail(call, refusal.notBack(lastFailure, policy.repeatWaitMs, restartInMs?.()));
    else if (gaveUpRestart) endings.refuse(call, refusal.unavailable(name, restartInMs?.(), outage.last));
    else this.proceed(call);
  }

  /** The time of a call was over while no attempt was in flight. */
  outOfTime(call: Call<I, O>): void {
    this.#on.endings.fail(call, call.trouble.lastFailure ?? refusal.notStarted(call.settings.overallMs));
  }

  /** Has a call wait for the restart, for as long as such calls may. */
  awaitRestart(call: Call<I, O>, now: number): void {
    const { parts, waits } = this.#on;
    const { repeatWaitMs, restartWaitMs } = parts.policy;
    const waitMs = call.attempts === 0 ? restartWaitMs : (call.trouble.repeatLeftMs ?? repeatWaitMs);
    waits.add(call, 'restart', Math.min(now + waitMs, call.overallDue));
  }

  /** The integration is there again: those that waited for it go on, first come first, and repetitions no faster than it may bear. */
  resumeAfterRestart(): void {
    const { parts, link, waits } = this.#on;
    const now = parts.clock.now();
    let repeated = 0;
    for (const call of waits.list('restart').toSorted((one, other) => one.number - other.number)) {
      if (call.waiting !== 'restart') continue;
      const leftMs = call.due - now;
      waits.remove(call);
      if (call.attempts > 0) call.ownTrouble().repeatLeftMs = Math.max(0, leftMs);
      const round = call.attempts > 0 ? Math.floor(repeated++ / repeatsAtOnce) : 0;
      // A circuit that has opened meanwhile keeps nobody waiting.
      if (round === 0 || !link.closed) this.proceed(call);
      else waits.add(call, 'backoff', Math.min(now + round * repeatsEveryMs, call.overallDue));
    }
  }

  /** What these calls waited for has come. */
  resume(waiting: Exclude<Waiting, 'restart'>): void {
    const { waits } = this.#on;
    for (const call of waits.list(waiting)) {
      if (call.waiting !== waiting) continue;
      waits.remove(call);
      this.proceed(call);
    }
  }

  /** Gives freed places to those who have waited longest. */
  fillPlaces(): void {
    const { link, places, waits, doubt } = this.#on;
    // An answer that comes at once frees its place in here: a loop, or a long queue would overflow the stack.
    if (places.queued === 0 || this.#filling) return;
    this.#filling = true;
    while (places.free && link.closed && !doubt.raised) {
      const next = places.next();
      if (next === undefined) break;
      waits.remove(next);
      this.proceed(next);
    }
    this.#filling = false;
  }

  /** The circuit opened: waiting calls end now, they would only be refused later. Those that were tried keep their failure as the cause. */
  refuseAll(): void {
    const { link, waits, endings, probing } = this.#on;
    for (const call of waits.list()) {
      // Who heard of it, or of the last refusal, may have closed the circuit again, or be its probe.
      if (!link.isOpen) return;
      const isProbed = call.waiting === 'probe' && link.lastState === 'half-open';
      // What has restarted with an open circuit may be due for a probe.
      const mayProbe = call.waiting === 'restart' && probing.isDue();
      if (call.waiting !== undefined && !isProbed && !mayProbe)
        endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    }
    this.resumeAfterRestart();
  }

  /** A probe neither closed nor opened the circuit (it was told to wait): it helps nobody who waited for it. */
  refuseProbeWaiters(): void {
    const { link, waits, endings, probing } = this.#on;
    for (const call of waits.list('probe')) {
      if (link.lastState !== 'half-open') return;
      if (call.waiting === 'probe') endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    }
  }

  #proceedWhileNotClosed(call: Call<I, O>, now: number): void {
    if (this.#on.link.isOpen) this.#proceedWhileOpen(call, now);
    else this.awaitRestart(call, now);
  }

  #proceedWhileOpen(call: Call<I, O>, now: number): void {
    const { parts, link, places, endings, attempts, probing, scopes, verdicts, tools } = this.#on;
    const { name, policy } = parts;
    // Before it takes the place of a probe, which it could not use.
    if (tools.size > 0 && probing.isDue(now) && tools.refuses(call, now)) return;
    if (parts.probe !== undefined && call.expectedEffect !== 'readOnly') this.#awaitProbe(call);
    else if (scopes.mustWait(call) && probing.isDue(now)) this.#awaitScope(call, now);
    else if (!places.free && probing.isDue(now)) endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
    else if (probing.request(now)) {
      if (!call.failed && places.free) attempts.dispatch(call);
      else {
        // Who heard of the probe may have ended the call, or taken the last place: that of the probe is the next one's.
        verdicts.ignored(link.admission);
        endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
      }
    } else if (link.isOpen) endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure, now));
    else this.proceed(call);
  }

  #awaitProbe(call: Call<I, O>): void {
    const { parts, link, waits, endings, probing } = this.#on;
    const { name, policy } = parts;
    probing.start();
    if (call.failed || !link.isOpen) this.proceed(call);
    else if (!probing.isUnderWay) endings.refuse(call, probing.circuitOpen(call.trouble.lastFailure));
    else if (waits.size < policy.maxInFlight) waits.add(call, 'probe', call.overallDue);
    else endings.refuse(call, refusal.tooMany(name, policy.maxInFlight));
  }

  /** What ran in the scope before is being ended, which takes its grace at most. */
  #awaitScope(call: Call<I, O>, now: number): void {
    const { parts, waits } = this.#on;
    waits.add(call, 'scope', Math.min(now + parts.policy.abortGraceMs, call.overallDue));
  }

  #awaitPause(call: Call<I, O>, now: number): void {
    const { parts, link, waits, endings, draining } = this.#on;
    const until = link.pausedUntil;
    if (until < Math.min(call.overallDue, draining.cutAt)) waits.add(call, 'pause', until);
    else endings.fail(call, refusal.paused(parts.name, until - now, call.trouble.lastFailure));
  }
}
