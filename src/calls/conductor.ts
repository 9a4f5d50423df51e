import type { IntegrationState } from '../machines/integration.ts';
import type { IntegrationEmitted } from '../machines/integrationEvents.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Befell } from '../policy/records/flight.ts';
import { done, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { Attempt } from './attempt.ts';
import { AttemptSteps } from './attemptSteps.ts';
import type { Call } from './call.ts';
import { mayHaveBegun } from './callFailure.ts';
import type { CallRule } from './callWhy.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import type { Waiting } from './callProgress.ts';
import { type AttemptLimit, overallHalfOf } from './limits.ts';
import { type PathWatcher, PathState } from './pathState.ts';
import { probePause } from './circuit/probeNow.ts';
import * as refusal from './refusal.ts';

/** So many calls that a crash took with it are repeated at once after the restart, and as many more every so often, in ms. */
const repeatsAtOnce = 50;
const repeatsEveryMs = 100;

/**
 * Is told what happens by itself (a deadline, an abort, a change of the machine, the end of an inquiry), and moves the calls that it
 * concerns. Each method is one step, or queues some.
 */
export class Conductor<I, O> implements PathWatcher<I, O> {
  protected readonly state: PathState<I, O>;
  protected readonly steps: AttemptSteps<I, O>;

  constructor(options: CallPathOptions<I, O>) {
    this.state = new PathState(options, this);
    this.steps = new AttemptSteps(this.state);
  }

  now(): number {
    return this.state.options.clock.now();
  }

  /** Notes what comes from outside, for a replay. */
  protected befell(what: Befell): void {
    this.state.options.recorder?.befell(what, this.now());
  }

  callAborted(call: Call<I, O>, reason: unknown): void {
    this.state.queue.change(() => this.steps.end(call, refusal.cancelled(reason, mayHaveBegun(call))));
  }

  firstChunkCame(call: Call<I, O>, afterMs: number): void {
    this.state.queue.change(() => this.state.records.firstChunkCame(call, afterMs));
  }

  callExpired(call: Call<I, O>, now: number): void {
    if (call.settled) return;
    const { queue } = this.state;
    const { fallback, lastFailure } = call.progress;
    queue.enter();
    if (fallback !== undefined && lastFailure !== undefined) this.#fallbackExpired(call, lastFailure);
    else if (call.attempt !== undefined) {
      const facts = this.steps.lifecycle.expire(call.attempt, now);
      if (facts !== undefined) this.steps.retryOrEnd(call, facts);
    } else if (!this.#waitsOn(call, now)) this.#waitExpired(call, now);
    queue.leave();
  }

  /**
   * The rule that ends the wait of a call next acts now, as if its time had come.
   * @param announce - told before it does.
   * @param note - who wants it, and why: what the call fails of says so.
   */
  protected act(call: Call<I, O>, { rule }: CallRule, announce: () => void, note: OrderNote): OrderResult {
    // Letting it go ends no pause: it is the probe that does.
    if (call.waiting === 'pause' && rule === 'next_attempt') return probePause(this.state, this.steps, call, announce);
    announce();
    // A listener may have ended the call.
    if (call.settled) return notDone('It ended at the same moment.');
    const { fallback, lastFailure } = call.progress;
    if (rule === 'overall_timeout') call.ownProgress().triesLast = true;
    if (fallback !== undefined && lastFailure !== undefined) this.#fallbackExpired(call, lastFailure);
    else if (call.attempt !== undefined) {
      const limit = rule === 'ping' ? 'idle_timeout' : (rule as AttemptLimit);
      const facts = this.steps.lifecycle.expireBy(call.attempt, limit, this.now(), note);
      if (facts !== undefined) this.steps.retryOrEnd(call, facts);
    } else {
      const { settlement } = this.steps;
      settlement.fired = { call, amend: (facts) => refusal.waitFired(facts, rule, note) };
      this.#waitFired(call, rule);
      settlement.fired = undefined;
    }
    return done;
  }

  /** No attempt of a call follows any more. @param announce - told before that is so. */
  protected endRetries(call: Call<I, O>, announce: () => void): OrderResult {
    const { triesLast, lastFailure } = call.progress;
    if (call.settled || call.failed) return notDone('The call has ended.');
    if (call.attempt === undefined && lastFailure === undefined)
      return notDone('The call has not been tried yet: cancel it instead.');
    if (call.attempt !== undefined && (triesLast || call.attempts >= call.settings.retry.maxAttempts))
      return notDone('No further attempt follows anyway.');
    announce();
    if (call.settled || call.failed) return notDone('The call ended at the same moment.');
    call.ownProgress().triesLast = true;
    if (call.attempt !== undefined) return { ok: true, text: 'What the attempt in flight ends with is its end.' };
    // That it is asked what became of the last attempt is no further one.
    if (call.waiting === 'reconciling') return { ok: true, text: 'What is found out of its last attempt is its end.' };
    this.steps.settlement.fail(call, lastFailure ?? refusal.notStarted(call.settings.overallMs));
    return { ok: true, text: 'It ended as its last attempt did.' };
  }

  pauseEnded(): void {
    this.state.queue.change(() => {
      this.state.circuit.link.send({ type: 'integration.unpaused' });
      this.resume('pause');
    });
  }

  /** The work of an attempt outlived its grace. */
  abandoned(attempt: Attempt<Call<I, O>>): void {
    const { queue, permits, records, options, circuit, outage } = this.state;
    queue.change(() => {
      const isReplaceable = permits.abandon();
      records.attemptAbandoned(attempt, permits.abandoned);
      if (!isReplaceable && circuit.link.lastState !== 'crashed') {
        outage.overwhelmed = true;
        this.lose(refusal.tooMuchAbandoned(options.name, options.policy));
      }
      this.steps.admission.fillPermits();
    });
  }

  /** Work was kept for as long as it is kept. */
  keepingOver(attempt: Attempt<Call<I, O>>): void {
    this.state.queue.change(() => this.steps.reconciling.kept.over(attempt));
  }

  /** It is known whether a suspect server lives. */
  inquiryEnded(alive: boolean): void {
    const { queue, waiting, suspicion } = this.state;
    const { forMs } = suspicion;
    queue.change(() => {
      if (!this.steps.lifecycle.recorder.inquiryEnded(alive)) return;
      this.befell({ input: 'inquired', alive, forMs });
      this.resume('suspect');
      if (waiting.queued > 0) queue.step(() => this.steps.admission.fillPermits(), undefined);
    });
  }

  /** The circuit of a tool has opened: calls of it that wait would only be refused later. */
  toolOpened(tool: string): void {
    const { queue, waiting, tools } = this.state;
    const refuse = (call: Call<I, O>): void => {
      const isMeant = call.waiting !== undefined && call.waiting !== 'reconciling' && tools.toolOf(call) === tool;
      const facts = isMeant ? tools.refusalOf(call, this.now()) : undefined;
      if (facts !== undefined) this.steps.settlement.refuse(call, facts, tools.episodeOf(call));
    };
    queue.step(() => queue.each(waiting.list(), refuse), undefined);
  }

  changed(from: IntegrationState, to: IntegrationState, shown: IntegrationState): void {
    const { circuit, queue, stopped } = this.state;
    const { link, failures } = circuit;
    if (stopped) return;
    // First: each call that is refused is told why. What is isolated was opened by no failure.
    if (to === 'open' && link.openUntil !== Number.POSITIVE_INFINITY && link.rule !== undefined) {
      failures.opened(link.rule);
    }
    if (from === 'half-open') circuit.probe = undefined;
    this.shown(shown, to === 'crashed' && !link.started ? 'idle' : to);
    if (to === 'crashed') this.#awaitRestart();
    else if (to === 'open' || from === 'half-open' || from === 'open' || from === 'crashed') {
      queue.step(() => this.#moved(from, to), undefined);
    }
  }

  shown(from: IntegrationState, to: IntegrationState): void {
    const { options, queue, stopped } = this.state;
    if (!stopped && from !== to) queue.tell({ type: 'integration.changed', integration: options.name, from, to });
  }

  emitted(event: IntegrationEmitted): void {
    const { options, queue, circuit } = this.state;
    if (event.type === 'breaker.closed') circuit.failures.clear();
    const cause = event.type === 'breaker.opened' && event.kind !== 'isolated' ? circuit.failures.cause : undefined;
    // At once: what is kept is as the machine is, and no listener hears of it before.
    options.onBreaker?.(event, cause);
    const why = cause === undefined ? undefined : { cause: cause.message, failures: cause.failures };
    queue.tell({ ...event, ...why, integration: options.name });
  }

  /** The server is gone, or counts as that: attempts end, and what may be tried again waits for the restart. */
  protected lose(facts: FailureFacts, quietly = false): void {
    const { circuit, outage, records, inFlight } = this.state;
    const isNew = circuit.link.lastState !== 'crashed';
    // First the machine, so that the calls find it crashed and none of them counts on its own: one incident counts once.
    const told = outage.begin(facts, quietly, isNew, this.now());
    circuit.link.lost();
    if (told === 'crashed') records.crashed(facts.message);
    else if (told === 'restart_failed') records.restartFailed(facts.message);
    for (const call of inFlight.list()) {
      if (call.attempt === undefined) continue;
      this.steps.lifecycle.lose(call.attempt, facts);
      this.steps.retryOrEnd(call, facts);
    }
  }

  /** The server is suspect no longer: it is gone, or was taken back into service. */
  protected endSuspicion(): void {
    if (this.state.suspicion.raised) this.inquiryEnded(false);
  }

  /** Resumes the calls whose wait for this is over. */
  protected resume(waiting: Exclude<Waiting, 'restart'>): void {
    const { queue } = this.state;
    queue.step(() => {
      queue.each(this.state.waiting.list(waiting), (call) => this.steps.admission.resume(call, waiting));
    }, undefined);
  }

  /** Applies the change of the machine to the calls that wait, as far as no listener has changed it again. */
  #moved(from: IntegrationState, to: IntegrationState): void {
    const { circuit, records, queue, waiting } = this.state;
    const { isOpen, closed } = circuit.link;
    if (to === 'open' && isOpen) this.#refuseAll();
    else if (closed && from !== 'idle' && from !== 'calling' && from !== 'backoff') {
      records.endRefusals();
      this.#resumeAfterRestart();
      this.resume('probe');
      if (waiting.queued > 0) queue.step(() => this.steps.admission.fillPermits(), undefined);
    }
  }

  /** No permit is given out while the server is away: calls that wait for one wait for the restart now, and no longer than others. */
  #awaitRestart(): void {
    for (const kind of ['probe', 'permit'] as const) {
      for (const call of this.state.waiting.list(kind)) this.steps.admission.resume(call, kind);
    }
  }

  /** The integration is there again: calls that waited for it go on, first come first, and repetitions no faster than it may bear. */
  #resumeAfterRestart(): void {
    const { queue, waiting, circuit } = this.state;
    const now = this.now();
    const calls = waiting.list('restart').toSorted((one, other) => one.number - other.number);
    let repeated = 0;
    queue.each(calls, (call) => {
      if (call.waiting !== 'restart') return;
      const leftMs = call.progress.waitUntil - now;
      waiting.delete(call);
      if (call.attempts > 0) call.ownProgress().repeatLeftMs = Math.max(0, leftMs);
      const round = call.attempts > 0 ? Math.floor(repeated++ / repeatsAtOnce) : 0;
      // A circuit that has opened meanwhile keeps no call waiting.
      if (round === 0 || !circuit.link.closed) this.steps.admission.proceed(call);
      else waiting.add(call, 'backoff', Math.min(now + round * repeatsEveryMs, call.overallDue));
    });
  }

  /** The circuit opened: waiting calls end now, they would only be refused later. Those that were tried keep their failure as the cause. */
  #refuseAll(): void {
    const { queue, waiting, circuit } = this.state;
    const { link } = circuit;
    const refuse = (call: Call<I, O>): boolean => {
      // A listener may have closed it again, or made a call that is its probe.
      if (!link.isOpen) return false;
      const now = this.now();
      const isProbed = call.waiting === 'probe' && link.lastState === 'half-open';
      // A server that has restarted with an open circuit may be due for a probe.
      const mayProbe = call.waiting === 'restart' && circuit.isProbeDue(now);
      if (call.waiting !== undefined && call.waiting !== 'reconciling' && !isProbed && !mayProbe) {
        this.steps.settlement.refuse(call, circuit.refusal(call.progress.lastFailure, now));
      }
      return true;
    };
    queue.each(waiting.list(), refuse, () => this.#resumeAfterRestart());
  }

  /** Tells whether a waiting call was only to be told of. A call that waits for a rate limit is looked at all the same: it may have come first in line. */
  #waitsOn(call: Call<I, O>, now: number): boolean {
    const { isPendingTold, waitUntil } = call.progress;
    if (isPendingTold || now >= waitUntil || now < overallHalfOf(call)) return false;
    this.state.records.callPending(call);
    if (call.waiting === 'rate') return false;
    call.due = waitUntil;
    this.state.options.deadlines.set(call);
    return true;
  }

  #fallbackExpired(call: Call<I, O>, lastFailure: FailureFacts): void {
    const timedOut = refusal.timedOut('overall_timeout', call.settings.overallMs);
    this.steps.settlement.cutShort(call, lastFailure, timedOut);
  }

  /** The rule that ends a wait acts before its time. */
  #waitFired(call: Call<I, O>, rule: CallRule['rule']): void {
    const { settlement, admission } = this.steps;
    const { lastFailure, rate } = call.progress;
    if (rule === 'rate_limit') {
      const progress = call.ownProgress();
      progress.passesRate = true;
      admission.resume(call, 'rate');
      progress.passesRate = false;
    } else if (rule === 'reconcile') this.steps.reconciling.fire(call);
    else if (rule !== 'overall_timeout') this.#waitExpired(call, this.now());
    else if (call.waiting === 'rate') {
      this.state.waiting.delete(call);
      settlement.refuse(call, refusal.rateLimited(this.state.options.name, rate, lastFailure));
    } else if (call.waiting === 'reconciling') this.steps.reconciling.outOfTime(call);
    else settlement.fail(call, lastFailure ?? refusal.notStarted(call.settings.overallMs));
  }

  #comeback(): refusal.ServerComeback {
    const { restartInMs, isQuarantined } = this.state.options;
    return { restartInMs: restartInMs?.(), isQuarantined: isQuarantined?.() === true };
  }

  /** The time of a waiting call has come. */
  #waitExpired(call: Call<I, O>, now: number): void {
    const { settlement } = this.steps;
    const { name, policy } = this.state.options;
    const { lastFailure } = call.progress;
    const wait = call.waiting;
    this.state.waiting.delete(call);
    if (wait === 'reconciling') this.steps.reconciling.outOfTime(call);
    else if (wait === 'rate' && now >= call.overallDue) {
      settlement.refuse(call, refusal.rateLimited(name, call.progress.rate, lastFailure));
    } else if (now >= call.overallDue || (wait !== 'scope' && wait !== 'restart')) this.steps.admission.proceed(call);
    else if (wait === 'scope') settlement.refuse(call, refusal.scopeBusy(name, call.settings.scope ?? '', lastFailure));
    else if (lastFailure === undefined)
      settlement.refuse(call, refusal.unavailable(name, this.#comeback(), this.state.outage.last));
    else settlement.fail(call, refusal.notBack(name, this.#comeback(), lastFailure, policy.repeatWaitMs));
  }
}
