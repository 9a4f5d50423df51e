import type { FailureFacts, Outcome } from '../../policy/failures/failure.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import { leavesEffectOpen } from '../../policy/failures/repetition.ts';
import type { AdmissionSteps } from '../admissionSteps.ts';
import type { Attempt } from '../attempt.ts';
import type { Call } from '../call.ts';
import { inputKeyOf, type Loss, OpenEffect } from './openEffects.ts';
import type { PathState } from '../pathState.ts';
import { foundFacts } from '../../policy/reconciler.ts';
import { ProbeSteps } from './probeSteps.ts';
import * as refusal from '../refusal.ts';
import type { Settlement } from '../settlement.ts';

/** Goes on with a call of which it is known that it did not happen. */
type Decide<I, O> = (call: Call<I, O>, facts: FailureFacts) => void;

/**
 * The steps of a call whose answer is lost: it is asked what became of it, calls that equal it wait, and all of them end by the verdict. The
 * question belongs to the effect: it goes on when its call has ended.
 */
export class ReconcileSteps<I, O> {
  readonly #state: PathState<I, O>;
  readonly #settlement: Settlement<I, O>;
  readonly #admission: AdmissionSteps<I, O>;
  readonly #decide: Decide<I, O>;
  readonly #probes: ProbeSteps<I, O>;

  constructor(
    state: PathState<I, O>,
    settlement: Settlement<I, O>,
    admission: AdmissionSteps<I, O>,
    decide: Decide<I, O>,
  ) {
    this.#state = state;
    this.#settlement = settlement;
    this.#admission = admission;
    this.#decide = decide;
    this.#probes = new ProbeSteps(state, (effect, finding) => this.#settle(effect, finding));
    settlement.reconciled = (call, outcome) => this.#callSettled(call, outcome);
  }

  /** An attempt of a call with a rule failed. @returns whether the call waits now, or has ended, as its effect is open. */
  attemptFailed(call: Call<I, O>, facts: FailureFacts): boolean {
    const now = this.#now();
    const effect = this.#open(call, facts, now);
    if (effect === undefined) return false;
    // Out of time: the question goes on behind it.
    if (now >= call.overallDue) this.#settlement.fail(call, facts);
    else this.#state.waiting.add(call, 'reconciling', call.overallDue);
    return true;
  }

  /** A call with a rule is ended in the middle of an attempt: the question what became of it goes on behind it. */
  attemptEnded(call: Call<I, O>, facts: FailureFacts): void {
    this.#open(call, facts, this.#now());
  }

  /** The answer of an attempt came after all. @returns whether its call is answered with it. */
  answeredLate({ call, number }: Attempt<Call<I, O>>, value: O): boolean {
    const effect = effectOf(call);
    if (effect?.call !== call || !effect.isAsked || effect.loss.attempt !== number) return false;
    const isWaitedFor = call.waiting === 'reconciling';
    this.#settle(effect, { verdict: 'done', how: 'its answer came late', result: { value } });
    return isWaitedFor;
  }

  /** A new call of a session: it waits for an open effect that it might repeat, or is answered with what was found out too late. @returns whether it is. */
  holds(call: Call<I, O>): boolean {
    const { openEffects } = this.#state;
    const { reconcile, session } = call.settings;
    if (openEffects.isEmpty || session === undefined || reconcile?.kind !== 'ask') return false;
    const { tool, input } = reconcile.about(call.input as never);
    const inputKey = inputKeyOf(tool, input);
    const finding = inputKey === undefined ? undefined : openEffects.recall(session, inputKey, this.#now());
    if (finding !== undefined) {
      this.#end(call, finding);
      return true;
    }
    const effect = openEffects.holding(session, tool, inputKey);
    if (effect === undefined) return false;
    setEffect(call, effect);
    effect.held.add(call);
    this.#state.waiting.add(call, 'reconciling', call.overallDue);
    return true;
  }

  /** The time of a call that waits for a verdict is over. */
  outOfTime(call: Call<I, O>): void {
    const { lastFailure } = call.progress;
    this.#settlement.fail(call, lastFailure ?? this.#heldFacts(call));
  }

  /** The time of the question that a call waits for has come, as an operator wants it. */
  fire(call: Call<I, O>): void {
    const effect = effectOf(call);
    if (effect !== undefined) this.#probes.effectDue(effect, this.#now());
  }

  /** Asks at once what is asked later: a process has ended that had the calls. */
  askNow(effects: readonly OpenEffect<I, O>[]): void {
    this.#probes.askNow(effects);
  }

  /** Nothing is asked any more. */
  stop(): void {
    const { openEffects } = this.#state;
    for (const effect of openEffects.list()) {
      this.#probes.halt(effect);
      if (effect.isAsked) this.#state.records.reconcileLeft(effect);
      effect.phase = 'over';
    }
    openEffects.clear();
  }

  #now(): number {
    return this.#state.options.clock.now();
  }

  #open(call: Call<I, O>, facts: FailureFacts, now: number): OpenEffect<I, O> | undefined {
    const { options, openEffects, records, queue, stopped } = this.#state;
    const { reconcile, session, stream } = call.settings;
    if (reconcile?.kind !== 'ask' || stream !== undefined || !leavesEffectOpen(facts, call.expectedEffect))
      return undefined;
    const { clock, name } = options;
    const about = reconcile.about(call.input as never);
    const wallNow = clock.wallNow();
    const { sentAt = wallNow } = call.progress;
    const id = call.settings.ledgerCall ?? `${name}-${call.number}`;
    const answer = { integration: name, ...about, session, call: id, startedAt: sentAt, endedAt: wallNow };
    const loss: Loss = { attempt: call.attempts, facts, at: now, answer };
    if (stopped) return undefined;
    const known = effectOf(call);
    const effect = known?.call === call && known.phase === 'repeating' ? known : undefined;
    const open =
      effect ??
      new OpenEffect(
        this.#probes,
        call,
        reconcile,
        loss,
        session === undefined ? undefined : inputKeyOf(about.tool, about.input),
      );
    open.loss = loss;
    open.probes = 0;
    open.tries = 0;
    open.phase = 'writing';
    setEffect(call, open);
    openEffects.add(open);
    records.reconciling(open);
    this.#traceQuestion(call, open);
    queue.step(() => this.#probes.begin(open), undefined);
    return open;
  }

  #settle(effect: OpenEffect<I, O>, finding: Finding): void {
    const { records, waiting, draining, queue } = this.#state;
    const { call } = effect;
    const { verdict } = finding;
    const isLate = call.settled || call.failed;
    this.#probes.halt(effect);
    effect.phase = verdict === 'not_done' ? 'repeating' : 'over';
    records.reconciled(effect, finding, isLate);
    const { reconcileLog } = call.settings;
    if (reconcileLog !== undefined) queue.call(() => reconcileLog.settled(finding, isLate), undefined);
    if (verdict === 'not_done') {
      if (isLate) this.#makeNext(effect);
      else {
        waiting.delete(call);
        this.#traceFinding(call, finding);
        call.ownProgress().effect = 'not_done';
        this.#decide(call, foundFacts(effect.loss.facts, finding));
      }
    } else {
      const isAwaited = !isLate || [...effect.held].some((held) => this.#isEqual(held, effect));
      this.#end(call, finding);
      this.#close(effect, finding);
      if (!isAwaited && verdict === 'done') this.#remember(effect, finding);
    }
    if (draining.order !== undefined) queue.call(draining.order.ended, undefined);
  }

  /** Ends a call by what was found out, unless it has ended. */
  #end(call: Call<I, O>, finding: Finding): void {
    if (call.settled || call.failed) return;
    const { verdict, result, how } = finding;
    this.#state.waiting.delete(call);
    this.#traceFinding(call, finding);
    if (verdict === 'done' && result !== undefined) {
      call.ending = 'answered';
      this.#settlement.succeedAfterAll(call, result.value as O, how);
    } else {
      const facts = call.progress.lastFailure ?? this.#heldFacts(call);
      this.#settlement.fail(call, foundFacts(facts, finding));
    }
  }

  /** Nothing of it is open any more: the calls that waited end with it, and those go on that ask for something else. */
  #close(effect: OpenEffect<I, O>, finding: Finding): void {
    effect.phase = 'over';
    this.#state.openEffects.delete(effect);
    this.#state.queue.each([...effect.held], (call) => {
      if (call.waiting !== 'reconciling') return;
      if (this.#isEqual(call, effect)) this.#end(call, finding);
      else this.#letGo(call, effect);
    });
  }

  /** It waited only for the tool, which another effect may keep busy. */
  #letGo(call: Call<I, O>, effect: OpenEffect<I, O>): void {
    effect.held.delete(call);
    setEffect(call, undefined);
    this.#state.waiting.delete(call);
    if (!this.holds(call)) this.#admission.proceed(call);
  }

  /** It did not happen, and its call has ended: of the equal ones that waited the first is made, and all others wait for that. */
  #makeNext(effect: OpenEffect<I, O>): void {
    const { openEffects, queue } = this.#state;
    const next = [...effect.held].find((held) => this.#isEqual(held, effect));
    if (next === undefined) {
      effect.phase = 'over';
      openEffects.delete(effect);
      queue.each([...effect.held], (call) => {
        if (call.waiting === 'reconciling') this.#letGo(call, effect);
      });
      return;
    }
    effect.held.delete(next);
    effect.call = next;
    queue.step(() => this.#admission.resume(next, 'reconciling'), undefined);
  }

  /** A call with a rule has ended. */
  #callSettled(call: Call<I, O>, outcome: Outcome<O>): void {
    if (call.settings.reconcile?.kind === 'key') this.#rememberKey(call, outcome);
    const effect = effectOf(call);
    if (effect === undefined || effect.held.delete(call) || effect.call !== call || effect.phase !== 'repeating')
      return;
    if (outcome.ok) {
      const how = 'an equal call was answered';
      this.#close(effect, { verdict: 'done', how, result: { value: outcome.value } });
    } else this.#makeNext(effect);
  }

  /** An equal call that the session makes now is to be the same to the other side, until one was answered. */
  #rememberKey(call: Call<I, O>, outcome: Outcome<O>): void {
    const { openEffects } = this.#state;
    const { reconcile, session } = call.settings;
    const { idempotencyKey: key, keyless } = call.progress;
    if (key === undefined || session === undefined || reconcile === undefined) return;
    const isOpen = !outcome.ok && (outcome.failure.outcome === 'unknown' || outcome.failure.outcome === 'cancelled');
    if (!isOpen && (!outcome.ok || openEffects.isEmpty)) return;
    const { tool, input } = reconcile.about(keyless as never);
    const inputKey = inputKeyOf(tool, input);
    if (inputKey === undefined) return;
    if (isOpen) openEffects.remember(session, inputKey, { at: this.#now(), key });
    else openEffects.forgetKey(session, inputKey, key);
  }

  #remember(effect: OpenEffect<I, O>, finding: Finding): void {
    const { session } = effect.call.settings;
    if (session === undefined || effect.inputKey === undefined) return;
    this.#state.openEffects.remember(session, effect.inputKey, { at: this.#now(), finding });
  }

  #isEqual(call: Call<I, O>, effect: OpenEffect<I, O>): boolean {
    const { tool, input } = effect.rule.about(call.input as never);
    return effect.inputKey !== undefined && inputKeyOf(tool, input) === effect.inputKey;
  }

  #traceQuestion(
    { progress: { trace } }: Call<I, O>,
    { rule: { asks }, loss: { attempt, facts } }: OpenEffect<I, O>,
  ): void {
    if (trace !== undefined) this.#state.queue.call(() => trace.reconciling({ asks, attempt, facts }), undefined);
  }

  #traceFinding({ progress: { trace } }: Call<I, O>, finding: Finding): void {
    if (trace !== undefined) this.#state.queue.call(() => trace.reconciled(finding), undefined);
  }

  #heldFacts(call: Call<I, O>): FailureFacts {
    return refusal.heldBack(this.#state.options.name, call.settings.label);
  }
}

// The progress of a call is kept without its types.
function effectOf<I, O>({ progress }: Call<I, O>): OpenEffect<I, O> | undefined {
  return progress.openEffect as OpenEffect<I, O> | undefined;
}

function setEffect<I, O>(call: Call<I, O>, effect: OpenEffect<I, O> | undefined): void {
  call.ownProgress().openEffect = effect;
}
