import type { FailureFacts, Outcome } from '../../policy/failures/failure.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import { leavesEffectOpen } from '../../policy/failures/repetition.ts';
import type { AdmissionSteps } from '../admissionSteps.ts';
import type { Attempt } from '../attempt.ts';
import type { AttemptLifecycle } from '../attemptLifecycle.ts';
import type { Call } from '../call.ts';
import { agedHow, isRead, keptCallOf, keptRule, KeptSteps } from './keptSteps.ts';
import { effectOf, inputKeyOf, type Loss, OpenEffect, setEffect } from './openEffects.ts';
import type { PathState } from '../pathState.ts';
import { foundFacts } from '../../policy/reconciler.ts';
import { ProbeSteps } from './probeSteps.ts';
import * as refusal from '../refusal.ts';
import type { Settlement } from '../settlement.ts';

interface ReconcileParts<I, O> {
  readonly settlement: Settlement<I, O>;
  readonly admission: AdmissionSteps<I, O>;
  readonly lifecycle: AttemptLifecycle<I, O>;
}

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
  /** Those of calls that are kept. */
  readonly kept: KeptSteps<I, O>;
  readonly #decide: Decide<I, O>;
  readonly #probes: ProbeSteps<I, O>;

  constructor(
    state: PathState<I, O>,
    { settlement, admission, lifecycle }: ReconcileParts<I, O>,
    decide: Decide<I, O>,
  ) {
    this.#state = state;
    this.#settlement = settlement;
    this.#admission = admission;
    this.kept = new KeptSteps(state, lifecycle, {
      settle: (effect, finding) => this.#settle(effect, finding),
      end: (call, finding) => this.#end(call, finding),
      letGo: (call, effect) => this.#letGo(call, effect),
      remember: (effect, finding) => this.#remember(effect, finding),
    });
    this.#decide = decide;
    this.#probes = new ProbeSteps(state, (effect, finding) => this.#settle(effect, finding));
    settlement.reconciled = (call, outcome) => this.#callSettled(call, outcome);
  }

  /** An attempt of a call with a rule, or that is kept, failed. @returns whether the call waits now, or has ended, as its effect is open. */
  attemptFailed(call: Call<I, O>, facts: FailureFacts): boolean {
    const now = this.#now();
    const effect = this.#open(call, facts, now);
    if (effect === undefined) return false;
    // Out of time: the question goes on behind it.
    const due = call.overallDue;
    if (effect.phase === 'kept' || now >= due) this.#settlement.fail(call, facts);
    else this.#state.waiting.add(call, 'reconciling', due);
    return true;
  }

  /** A call with a rule is ended in the middle of an attempt: the question what became of it goes on behind it. */
  attemptEnded(call: Call<I, O>, facts: FailureFacts): void {
    this.#open(call, facts, this.#now());
  }

  /** The answer of an attempt came after all. @returns whether its call is answered with it. */
  answeredLate(attempt: Attempt<Call<I, O>>, value: O): boolean {
    const { call, number } = attempt;
    const effect = effectOf(call);
    const isIts = effect?.call === call && effect.isAsked && effect.loss.attempt === number;
    if (effect === undefined || (!isIts && effect.kept !== attempt)) return false;
    const isWaitedFor = call.waiting === 'reconciling';
    this.kept.leave(effect, 'answered');
    this.#settle(effect, { verdict: 'done', how: 'its answer came late', result: { value } });
    return isWaitedFor;
  }

  /**
   * A new call of a session: it waits for an open effect that it might repeat, joins one that is kept, or is answered with what was found out too late.
   * @returns whether it is.
   */
  holds(call: Call<I, O>): boolean {
    const { openEffects, records, waiting } = this.#state;
    const { reconcile, session, keep } = call.settings;
    if (openEffects.isEmpty || session === undefined || (keep === undefined && reconcile?.kind !== 'ask')) return false;
    const about = keep?.about ?? reconcile?.about;
    const asked = about?.((call.progress.keyless ?? call.input) as never);
    const [tool, inputKey] = [asked?.tool, asked && inputKeyOf(asked)];
    const now = this.#now();
    const known = inputKey === undefined ? undefined : openEffects.recall(session, inputKey, now);
    if (known?.kept?.given !== undefined) this.#state.queue.call(known.kept.given, undefined);
    // Asked anew, what it came to is of no interest; what changes nothing is made anew.
    if (known !== undefined && (known.kept === undefined || (keep?.fresh !== true && !isRead(call)))) {
      const { kept, finding, at } = known;
      if (kept !== undefined) records.joined(call, kept, finding.failed === undefined ? finding.verdict : 'failed');
      if (kept !== undefined) Object.assign(call.ownProgress(), { joined: true, recalled: known });
      this.#end(call, kept === undefined ? finding : { ...finding, how: agedHow(kept, finding, now, at) });
      return true;
    }
    const effect = openEffects.holding(session, tool, inputKey);
    if (effect === undefined || (keep?.fresh === true && effect.phase === 'kept')) return false;
    setEffect(call, effect);
    effect.held.add(call);
    call.ownProgress().joined = effect.kept !== undefined && effect.inputKey === inputKey;
    if (call.progress.joined) records.joined(call, keptCallOf(effect), 'running');
    const joined = effect.phase === 'kept' ? effect.kept : undefined;
    waiting.add(call, 'reconciling', joined === undefined ? call.overallDue : this.kept.limitOf(call, joined).due);
    return true;
  }

  /** The time of a call that waits for a verdict is over. */
  outOfTime(call: Call<I, O>): void {
    const { lastFailure } = call.progress;
    const { kept, suspicion, waiting } = this.#state;
    const work = effectOf(call)?.kept;
    if (work === undefined) {
      this.#settlement.fail(call, lastFailure ?? this.#heldFacts(call));
      return;
    }
    const now = this.#now();
    const { reason, limitMs, due } = this.kept.limitOf(call, work);
    // What it has joined has shown a sign of life.
    if (lastFailure === undefined && now < due && this.#settlement.fired?.call !== call) {
      waiting.add(call, 'reconciling', due);
      return;
    }
    // No new attempt will find out that its server hangs.
    const { settings } = work.call;
    if (now - work.silentSince >= (settings.ownLimits ?? settings).idleMs) suspicion.raise();
    const facts = lastFailure ?? { ...refusal.timedOut(reason, limitMs), breaker: 'ignored' };
    const effect = effectOf(call);
    if (effect?.phase === 'kept' && isRead(call) && (reason === 'idle_timeout' || work.silentSince <= call.startedAt)) {
      effect.held.delete(call);
      this.kept.foundDead(effect);
      if (now >= call.overallDue) this.#settlement.fail(call, facts);
      else this.#letGo(call, effect);
    } else this.#settlement.fail(call, kept.judge(call, facts));
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

  /** Nothing of a session is kept, asked or remembered any more: it is erased. */
  forget(session: string): void {
    const { openEffects } = this.#state;
    for (const effect of openEffects.of(session)) {
      this.#probes.halt(effect);
      this.kept.leave(effect, 'cancelled');
      effect.phase = 'over';
      openEffects.delete(effect);
    }
    openEffects.forget(session);
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
    const mayAsk = stream === undefined && leavesEffectOpen(facts, call.expectedEffect);
    const asking = reconcile?.kind === 'ask' && mayAsk ? reconcile : undefined;
    const kept = facts.kept === undefined ? undefined : this.#state.kept.of(call);
    const rule = asking ?? (kept && keptRule(call));
    if (rule === undefined) return undefined;
    const { clock, name } = options;
    const asked = rule.about((call.progress.keyless ?? call.input) as never);
    const wallNow = clock.wallNow();
    const { sentAt = wallNow } = call.progress;
    const id = call.settings.ledgerCall ?? `${name}-${call.number}`;
    const { tool, input } = asked;
    const answer = { integration: name, tool, input, session, call: id, startedAt: sentAt, endedAt: wallNow };
    const loss: Loss = { attempt: call.attempts, facts, at: now, answer };
    if (stopped) return undefined;
    const known = effectOf(call);
    const effect = known?.call === call && known.phase === 'repeating' ? known : undefined;
    const open =
      effect ?? new OpenEffect(this.#probes, call, rule, loss, session === undefined ? undefined : inputKeyOf(asked));
    open.loss = loss;
    open.probes = 0;
    open.tries = 0;
    open.phase = asking === undefined ? 'kept' : 'writing';
    open.kept = kept;
    setEffect(call, open);
    openEffects.add(open);
    if (kept !== undefined) records.kept(open, facts.kept?.forMs ?? 0);
    if (asking === undefined) return open;
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
    const { isAsked } = effect;
    this.#probes.halt(effect);
    if (verdict === 'unknown' && effect.kept !== undefined) effect.phase = 'kept';
    else effect.phase = verdict === 'not_done' ? 'repeating' : 'over';
    if (isAsked) records.reconciled(effect, finding, isLate);
    const { reconcileLog, keep } = call.settings;
    if (isAsked && reconcileLog !== undefined) queue.call(() => reconcileLog.settled(finding, isLate), undefined);
    if (effect.phase === 'kept') {
      // Nobody else knows: its own answer may tell.
      this.#end(call, finding);
      return;
    }
    this.kept.leave(effect, 'settled');
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
      this.#close(effect, isAsked ? finding : { ...finding, how: agedHow(keptCallOf(effect), finding, this.#now()) });
      if (!isAwaited && verdict === 'done' && (isAsked || !isRead(call))) this.#remember(effect, finding);
      else if (isLate && keep?.given !== undefined) queue.call(keep.given, undefined);
    }
    if (draining.order !== undefined) queue.call(draining.order.ended, undefined);
  }

  /** Ends a call by what was found out, unless it has ended. */
  #end(call: Call<I, O>, finding: Finding): void {
    if (call.settled || call.failed) return;
    const { verdict, result, how } = finding;
    this.#state.waiting.delete(call);
    this.#traceFinding(call, finding);
    if (finding.failed !== undefined) {
      const { failed } = finding;
      const message = call.progress.joined ? `${failed.message} (${how})` : failed.message;
      this.#settlement.fail(call, { ...failed, message });
    } else if (verdict === 'done' && result !== undefined) {
      call.ending = 'answered';
      this.#settlement.succeedAfterAll(call, result.value as O, how);
    } else {
      const facts = call.progress.lastFailure ?? this.#heldFacts(call, finding);
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
    call.ownProgress().joined = false;
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
    const asked = reconcile.about(keyless as never);
    const inputKey = inputKeyOf(asked);
    if (inputKey === undefined) return;
    if (isOpen && !openEffects.knows(session, asked.tool, inputKey))
      openEffects.remember(session, inputKey, { at: this.#now(), key });
    else openEffects.forgetKey(session, inputKey, key);
  }

  #remember(effect: OpenEffect<I, O>, finding: Finding): void {
    const { session } = effect.call.settings;
    if (session === undefined || effect.inputKey === undefined) return;
    const kept = effect.call.settings.keep && keptCallOf(effect);
    this.#state.openEffects.remember(session, effect.inputKey, { at: this.#now(), finding, kept });
  }

  #isEqual(call: Call<I, O>, effect: OpenEffect<I, O>): boolean {
    const asked = effect.rule.about((call.progress.keyless ?? call.input) as never);
    return effect.inputKey !== undefined && inputKeyOf(asked) === effect.inputKey;
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

  /** @param finding - what became of the call that it equals. @defaultValue that is not known */
  #heldFacts({ settings, progress }: Call<I, O>, finding?: Finding): FailureFacts {
    const { verdict, how } = finding ?? {};
    const facts = refusal.heldBack(this.#state.options.name, settings.label, verdict === 'done');
    // Told once: the next one is made.
    return progress.joined && verdict === 'unknown'
      ? { ...facts, message: `${facts.message} (${how})`, shouldRetry: undefined }
      : facts;
  }
}
