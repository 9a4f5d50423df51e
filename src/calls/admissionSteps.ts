import type { Outcome } from '../policy/failures/failure.ts';
import { type Admission, admit } from './admission.ts';
import type { Attempt, Fence } from './attempt.ts';
import type { AttemptLifecycle } from './attemptLifecycle.ts';
import { Call } from './call.ts';
import type { Waiting } from './callProgress.ts';
import type { CallSettings } from './callOptions.ts';
import type { PathState } from './pathState.ts';
import * as refusal from './refusal.ts';
import type { Settlement } from './settlement.ts';

/** Steps that an admitted call goes on with. */
export interface AdmittedCalls<I, O> {
  readonly lifecycle: AttemptLifecycle<I, O>;
  readonly settlement: Settlement<I, O>;
  /** Starts the work of an attempt. */
  readonly work: (attempt: Attempt<Call<I, O>>) => void;
}

/** The steps of a call that has no attempt: it is admitted and gets one, waits, or ends. */
export class AdmissionSteps<I, O> {
  readonly #state: PathState<I, O>;
  readonly #admitted: AdmittedCalls<I, O>;
  #filling = false;

  constructor(state: PathState<I, O>, admitted: AdmittedCalls<I, O>) {
    this.#state = state;
    this.#admitted = admitted;
  }

  /** Makes the row of a call. @param now - monotonic time in ms. @param settled - gets its one outcome. */
  makeCall(input: I, settings: CallSettings<I, O>, now: number, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    return new Call(this.#state.watcher, ++this.#state.made, input, settings, now, settled);
  }

  /** Moves a call that has no attempt on. @param now - the time, where it has just been read. */
  proceed(call: Call<I, O>, now = this.#state.options.clock.now()): void {
    const admission = admit(this.#state, call, now);
    const isAdmitted = admission === 'pass' || admission === 'probe';
    const spent = isAdmitted ? call.progress.budget?.refusal({ requests: 1 }) : undefined;
    if (spent !== undefined) this.#admitted.settlement.refuse(call, spent);
    else if (admission === 'pass') this.#begin(call, now);
    else this.#holdBack(call, admission, now);
  }

  /** Resumes a call: its wait is over. Does nothing when it does not wait for that any more. */
  resume(call: Call<I, O>, waiting: Waiting): void {
    if (call.waiting !== waiting) return;
    this.#state.waiting.delete(call);
    this.proceed(call);
  }

  /** Has a call wait for the restart, for as long as such calls may. */
  awaitRestart(call: Call<I, O>, now: number): void {
    const { repeatWaitMs, restartWaitMs } = this.#state.options.policy;
    const waitMs = call.attempts === 0 ? restartWaitMs : (call.progress.repeatLeftMs ?? repeatWaitMs);
    this.#state.waiting.add(call, 'restart', Math.min(now + waitMs, call.overallDue));
  }

  /** Gives free permits to the calls that have waited longest, one at a time: one that is answered at once releases its permit. */
  fillPermits(): void {
    if (this.#state.waiting.queued === 0 || this.#filling) return;
    this.#filling = true;
    this.#state.queue.step(this.#fillNext, undefined);
  }

  readonly #fillNext = (): void => {
    const { permits, circuit, suspicion, waiting, queue } = this.#state;
    const mayPass = permits.free && circuit.link.closed && !suspicion.raised;
    const next = mayPass ? waiting.nextForPermit() : undefined;
    this.#filling = next !== undefined;
    if (next === undefined) return;
    this.resume(next, 'permit');
    queue.step(this.#fillNext, undefined);
  };

  #begin(call: Call<I, O>, now: number): void {
    this.#state.queue.step(this.#admitted.work, this.#admitted.lifecycle.begin(call, now));
  }

  /** Keeps a call back, or ends it. */
  #holdBack(call: Call<I, O>, admission: Exclude<Admission, 'pass'>, now: number): void {
    const { waiting, circuit, options } = this.#state;
    const { settlement } = this.#admitted;
    switch (admission) {
      case 'over':
        return;
      case 'probe':
        this.#tryCircuit(call, now);
        return;
      case 'await_probe':
        this.#awaitProbe(call, now);
        return;
      case 'await_restart':
        this.awaitRestart(call, now);
        return;
      case 'await_rate':
        this.#awaitRate(call, now);
        return;
      case 'refuse_open':
        settlement.refuse(call, circuit.refusal(call.progress.lastFailure, now));
        return;
      case 'refuse_too_many':
        settlement.refuse(call, refusal.tooMany(options.name, options.policy.maxInFlight));
        return;
      default:
        if ('awaits' in admission) waiting.add(call, admission.awaits, admission.until);
        else if ('failsOf' in admission) settlement.fail(call, admission.failsOf);
        else settlement.refuse(call, admission.refusedFor, admission.episode);
    }
  }

  /** The first in line goes when its part has come back, each of the others when it is the first. */
  #awaitRate(call: Call<I, O>, now: number): void {
    const { rate } = call.progress;
    if (rate === undefined) return;
    const isFirst = rate.enter();
    this.#state.waiting.add(call, 'rate', isFirst ? Math.min(now + rate.waitMs, call.overallDue) : call.overallDue);
    this.#state.records.rateWaited(rate);
  }

  /** A call asks to be the probe of an open circuit. */
  #tryCircuit(call: Call<I, O>, now: number): void {
    const { circuit, queue } = this.#state;
    if (circuit.requestProbe(now)) {
      const { fence } = circuit.link;
      // A listener that hears of the probe may end the call, take the last permit, or change the circuit.
      queue.step(() => this.#beginProbe(call, fence), undefined);
    } else if (circuit.link.isOpen) this.#holdBack(call, 'refuse_open', now);
    else this.proceed(call);
  }

  #beginProbe(call: Call<I, O>, fence: Fence): void {
    const { circuit, permits, options } = this.#state;
    const now = options.clock.now();
    if (!circuit.link.isCurrent(fence)) {
      this.proceed(call);
    } else if (!call.failed && permits.free) {
      this.#begin(call, now);
    } else {
      circuit.ignored(fence);
      this.#holdBack(call, 'refuse_too_many', now);
    }
  }

  /** A call waits for the integration's own harmless probe, which is sent if one is due and none is under way. */
  #awaitProbe(call: Call<I, O>, now: number): void {
    const wait = (): void => this.#waitForProbe(call);
    if (this.sendProbe(now)) this.#state.queue.step(wait, undefined);
    else wait();
  }

  /** Sends the integration's own harmless probe, if one is due and none is under way. @returns whether it did. */
  sendProbe(now: number): boolean {
    const { circuit } = this.#state;
    if (circuit.probe !== undefined || !circuit.requestProbe(now)) return false;
    circuit.probe = this.#makeProbe(now);
    this.#begin(circuit.probe, now);
    return true;
  }

  #waitForProbe(call: Call<I, O>): void {
    const { circuit, waiting, options } = this.#state;
    if (call.failed || !circuit.link.isOpen) this.proceed(call);
    else if (circuit.probe === undefined) this.#holdBack(call, 'refuse_open', options.clock.now());
    else if (waiting.size < options.policy.maxInFlight) waiting.add(call, 'probe', call.overallDue);
    else this.#holdBack(call, 'refuse_too_many', options.clock.now());
  }

  #makeProbe(now: number): Call<I, O> {
    const { limits, retry } = this.#state.options.policy;
    const settings: CallSettings<I, O> = {
      ...limits,
      overallMs: Math.min(limits.overallMs, this.#state.circuit.leaseMs),
      retry: { ...retry, maxAttempts: 1 },
      effect: 'readOnly',
      label: 'probe',
      isProbe: true,
    };
    const probe = this.makeCall(undefined as I, settings, now, () => this.#probeEnded(probe));
    return probe;
  }

  /** A probe that neither closed nor opened the circuit (it was told to wait) helps no call that waited for it. */
  #probeEnded(probe: Call<I, O>): void {
    const { circuit, waiting, queue, stopped, options } = this.#state;
    // A circuit that is half-open no longer has forgotten its probe.
    if (circuit.probe !== probe || stopped) return;
    circuit.probe = undefined;
    queue.each(waiting.list('probe'), (call) => {
      if (circuit.link.lastState !== 'half-open') return false;
      if (call.waiting === 'probe') this.#holdBack(call, 'refuse_open', options.clock.now());
      return true;
    });
  }
}
