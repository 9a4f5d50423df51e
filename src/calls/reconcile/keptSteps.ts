import type { FactMap } from '../../policy/facts/facts.ts';
import type { FailureFacts, FailureKind } from '../../policy/failures/failure.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import type { AskingRule } from '../../policy/reconciler.ts';
import { formatDuration } from '../../policy/text/duration.ts';
import type { Attempt } from '../attempt.ts';
import type { AttemptLifecycle } from '../attemptLifecycle.ts';
import type { Call } from '../call.ts';
import type { PathState } from '../pathState.ts';
import { effectOf, type KeptCall, type OpenEffect } from './openEffects.ts';

/** Steps of open effects in general, which those of kept calls lead to. */
interface EffectSteps<I, O> {
  readonly settle: (effect: OpenEffect<I, O>, finding: Finding) => void;
  /** Ends a call by what was found out. */
  readonly end: (call: Call<I, O>, finding: Finding) => void;
  /** Lets a call go on that waited for another one. */
  readonly letGo: (call: Call<I, O>, effect: OpenEffect<I, O>) => void;
  readonly remember: (effect: OpenEffect<I, O>, finding: Finding) => void;
}

/** The steps of calls that are kept: how long they and those that have joined them are waited for, and what follows when their work ends. */
export class KeptSteps<I, O> {
  readonly #state: PathState<I, O>;
  readonly #lifecycle: AttemptLifecycle<I, O>;
  readonly #effects: EffectSteps<I, O>;

  constructor(state: PathState<I, O>, lifecycle: AttemptLifecycle<I, O>, effects: EffectSteps<I, O>) {
    this.#state = state;
    this.#lifecycle = lifecycle;
    this.#effects = effects;
  }

  /** The work of an attempt that is kept ended with a failure. */
  failed(attempt: Attempt<Call<I, O>>, facts: FailureFacts): void {
    const { call } = attempt;
    const effect = effectOf(call);
    if (effect?.kept !== attempt) return;
    const { keep } = call.settings;
    const isLost = facts.outcome === 'unknown' && endsWork.has(facts.kind);
    this.leave(effect, isLost ? 'lost' : 'failed');
    const { message } = facts;
    if (isLost) this.#ended(effect, { verdict: 'unknown', how: `its work ended without an answer: ${message}` });
    else {
      if ((call.settled || call.failed) && keep?.failed !== undefined) this.#state.queue.call(keep.failed, facts);
      this.#ended(effect, { verdict: 'done', how: `it answered late with a failure: ${message}`, failed: facts });
    }
  }

  /** Nobody waits for the answer of an attempt any more that was kept for so long. */
  over(attempt: Attempt<Call<I, O>>): void {
    const effect = effectOf(attempt.call);
    if (effect?.kept !== attempt) return;
    this.leave(effect, 'expired');
    this.#ended(effect, { verdict: 'unknown', how: 'no answer came for as long as it was kept' });
  }

  /** A call that waits for one that is kept is called off: that is no longer wanted, unless others wait for it. */
  calledOff(call: Call<I, O>): void {
    const effect = effectOf(call);
    if (effect?.phase !== 'kept') return;
    effect.held.delete(call);
    const others = [effect.call, ...effect.held].filter((each) => each !== call && each.waiting === 'reconciling');
    if (others.length > 0) return;
    const given = effect.call.settings.keep?.given;
    if (given !== undefined) this.#state.queue.call(given, undefined);
    this.leave(effect, 'cancelled');
    effect.phase = 'over';
    this.#state.openEffects.delete(effect);
  }

  /** The limit of a call that has joined another one: its own, as if the attempt of that were its. */
  limitOf({ startedAt, settings }: Call<I, O>, work: Attempt<Call<I, O>>) {
    const { idleMs, attemptMs, overallMs } = settings;
    const goesOn = this.#lifecycle.goesOnWhenSilent(work);
    const silentSince = goesOn ? Number.POSITIVE_INFINITY : Math.max(startedAt, work.silentSince);
    const limits = [
      { reason: 'idle_timeout', limitMs: idleMs, due: silentSince + idleMs },
      { reason: 'attempt_timeout', limitMs: attemptMs, due: startedAt + attemptMs },
      { reason: 'overall_timeout', limitMs: overallMs, due: startedAt + overallMs },
    ] as const;
    return limits.reduce((first, each) => (each.due < first.due ? each : first));
  }

  /** What is kept of it goes on no longer: its work has ended, or is ended now. */
  leave(effect: OpenEffect<I, O>, how: FactMap['call.kept_ended']['how']): void {
    const { kept } = effect;
    if (kept === undefined) return;
    effect.kept = undefined;
    const { call, loss } = effect;
    const { kept: _, ...facts } = loss.facts;
    // What its call ends with from here on is not told as kept.
    effect.loss = { ...loss, facts };
    if (call.progress.lastFailure === loss.facts) call.ownProgress().lastFailure = facts;
    this.#lifecycle.endKept(kept);
    const { draining, records, queue } = this.#state;
    records.keptEnded(effect, how);
    if (draining.order !== undefined) queue.call(draining.order.ended, undefined);
  }

  /** No sign of life came for as long as a call has waited that joined it and changes nothing: what goes on is ended, and it is made anew. */
  foundDead(effect: OpenEffect<I, O>): void {
    this.leave(effect, 'lost');
    this.#ended(effect, { verdict: 'unknown', how: 'it showed no sign of life' });
  }

  /** The work of a call that was kept ended without the answer that was hoped for: of those that have joined it, reads are made. */
  #ended(effect: OpenEffect<I, O>, finding: Finding): void {
    const { call, held, phase } = effect;
    const { openEffects, queue } = this.#state;
    if (phase !== 'kept') {
      // Of what ended without a word it is asked on.
      if (finding.failed !== undefined) this.#effects.settle(effect, finding);
      return;
    }
    const given = call.settings.keep?.given;
    effect.phase = 'over';
    openEffects.delete(effect);
    if (held.size > 0 && given !== undefined) queue.call(given, undefined);
    if (held.size === 0 && !isRead(call)) this.#effects.remember(effect, finding);
    const how = agedHow(keptCallOf(effect), finding, this.#state.options.clock.now());
    queue.each([...held], (each) => {
      if (each.waiting !== 'reconciling') return;
      if (isRead(each) && finding.failed === undefined) this.#effects.letGo(each, effect);
      else this.#effects.end(each, { ...finding, how });
    });
  }
}

/** Kinds of failures that end work from outside: of what it did, they are no answer. */
const endsWork: ReadonlySet<FailureKind> = new Set(['crash', 'transient', 'timeout', 'cancelled']);

/** Tells whether a call is a declared read. */
export const isRead = <I, O>({ expectedEffect }: Call<I, O>): boolean => expectedEffect === 'readOnly';

/** The rule of a kept call without one of its own: nobody is asked. */
export function keptRule<I, O>({ settings: { keep } }: Call<I, O>): AskingRule | undefined {
  return keep && { ...unasked, about: keep.about };
}

const unasked = {
  kind: 'ask',
  asks: 'its own answer',
  notBeforeMs: undefined,
  endsWithProcess: false,
  timeoutMs: 0,
  attempts: 0,
  hold: 'input',
  ask: () => 'unknown',
  answer: (result: unknown) => result,
} as const;

/** What later calls are told of a kept one. */
export function keptCallOf<I, O>({ call, loss }: OpenEffect<I, O>): KeptCall {
  return { id: loss.answer.call, startedAt: call.startedAt, given: call.settings.keep?.given };
}

/** How the end of a kept call is known, with its age. @param at - when it ended. @defaultValue now */
export function agedHow({ startedAt }: KeptCall, finding: Finding, now: number, at = now): string {
  const { verdict, how } = finding;
  const made = `the same call was made ${formatDuration(now - startedAt)} ago`;
  if (verdict !== 'done') return `${made}; ${how}`;
  if (at === now) return `${made}, and this is its answer`;
  const answered = `${made}, and answered ${formatDuration(now - at)} ago`;
  return (finding.result ?? finding.failed) === undefined ? `${answered}; ${how}` : answered;
}
