import type { FailureFacts } from '../policy/failure.ts';
import type { Call } from './call.ts';
import { nextStep } from './nextStep.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';

/** What follows an attempt for its call: its end, or a wait and another attempt, as far as the budget of retries goes. */
export class Aftermath<I, O> {
  readonly #on: Stations<I, O>;
  /** Calls that are being tried again, but for those that a crash took with it. */
  #retrying = 0;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  answered(call: Call<I, O>, value: O): void {
    const { budget, endings } = this.#on;
    if (call.attempts === 1) budget.succeededAtFirst();
    else budget.succeededAfter(call.trouble.retries);
    endings.succeed(call, value);
  }

  failed(call: Call<I, O>, facts: FailureFacts): void {
    if (call.failed) return;
    call.noteFailure(facts);
    const { parts, link, waits, endings, probing, records, budget, draining, tools, gate } = this.#on;
    const now = parts.clock.now();
    const ofTool = tools.size > 0 && !link.isOpen ? tools.refusalOf(call, now, facts) : undefined;
    const next = nextStep(call, facts, {
      now,
      random: parts.random,
      open: link.isOpen || ofTool !== undefined,
      crashed: link.lastState === 'crashed',
      cutAt: draining.cutAt,
      circuitOpen: (cause) => ofTool ?? probing.circuitOpen(cause),
      takeRetry: () => budget.tryRetry(call.trouble.retries > 0 ? this.#retrying - 1 : this.#retrying),
    });
    if (next.step === 'end' || this.#on.stopped) {
      endings.fail(call, next.step === 'end' ? next.facts : refusal.stopped(parts.name));
      return;
    }
    const trouble = call.ownTrouble();
    const delayMs = next.step === 'wait' ? next.delayMs : null;
    if (delayMs === null) gate.awaitRestart(call, now);
    else {
      if (trouble.retries === 0) this.#retrying++;
      trouble.retries++;
      trouble.waitedMs += delayMs;
      waits.add(call, 'backoff', now + delayMs);
    }
    const { attempts } = call;
    records.callRetried(call, facts, delayMs);
    // Who heard of it may have ended the call, or had it go on.
    if (!call.settled && !call.failed) call.settings.retried?.(facts, attempts);
  }

  /** The call is settled; its caller is about to be told. */
  settled(call: Call<I, O>): void {
    const { scopes, probing, gate, draining } = this.#on;
    draining.settled();
    if (call.trouble.retries > 0) this.#retrying--;
    scopes.leave(call);
    // A circuit that is half-open no longer has forgotten its probe.
    if (call.settings.isProbe !== true || !probing.isTheProbe(call) || this.#on.stopped) return;
    probing.forget();
    gate.refuseProbeWaiters();
  }
}
