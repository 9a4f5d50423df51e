import { backoffDelayMs } from '../../policy/backoff.ts';
import { findingOf } from '../../policy/reconciler.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import { isThenable, observe } from '../observe.ts';
import type { EffectWatcher, OpenEffect } from './openEffects.ts';
import type { PathState } from '../pathState.ts';
import { markOfWork } from '../workSignal.ts';

/**
 * Probes of reconcile rules under way at once for the calls of one integration. An outage that loses the answers of many calls must not have
 * all of them asked about in the moment in which the server comes back.
 */
export const mostProbes = 4;

/** The wait before a rule is asked again. */
const backoff = {
  kind: 'exponential',
  initialMs: 500,
  factor: 2,
  maxMs: 10_000,
  jitter: { kind: 'factor', factor: 0.2 },
} as const;

/**
 * The question what became of a call, from the word to its ledger to the last of its probes: each waits for its turn, has its time, and is asked
 * again until it is known, or the rule's attempts are used up.
 */
export class ProbeSteps<I, O> implements EffectWatcher<I, O> {
  readonly #state: PathState<I, O>;
  readonly #found: (effect: OpenEffect<I, O>, finding: Finding) => void;
  readonly #turns = new ProbeTurns<OpenEffect<I, O>>();

  /** @param found - told of the one finding that counts. */
  constructor(state: PathState<I, O>, found: (effect: OpenEffect<I, O>, finding: Finding) => void) {
    this.#state = state;
    this.#found = found;
  }

  /** Tells the ledger first: what is asked is known to the next process too. */
  begin(effect: OpenEffect<I, O>): void {
    if (effect.phase !== 'writing') return;
    const { queue, options } = this.#state;
    const written = effect.call.settings.reconcileLog?.opened();
    if (!isThenable(written)) {
      this.#askInTurn(effect);
      return;
    }
    // A store that is stuck keeps nobody waiting.
    effect.due = Math.ceil(this.#now() + effect.rule.timeoutMs);
    options.deadlines.set(effect);
    const go = (isOurs: boolean): void => {
      if (effect.phase !== 'writing') return;
      queue.enter();
      if (isOurs) this.#askInTurn(effect);
      else this.#found(effect, { verdict: 'unknown', how: 'another runtime has the session now' });
      queue.leave();
    };
    Promise.resolve(written).then(go, () => go(true));
  }

  /** A probe is late, or it is time for the next. */
  effectDue(effect: OpenEffect<I, O>, now: number): void {
    const { queue } = this.#state;
    queue.enter();
    if (effect.phase === 'asking') {
      effect.probe?.abort(new Error('the probe took too long'));
      this.#heard(effect, { verdict: 'unknown', how: `${effect.rule.asks} did not answer in time` }, now);
    } else if (effect.isAsked) this.#askInTurn(effect);
    queue.leave();
  }

  /** Asks as soon as there is a turn what is asked later: a process has ended that had the calls, and what they do may end with it. */
  askNow(effects: readonly OpenEffect<I, O>[]): void {
    for (const effect of effects) {
      if (effect.phase !== 'waiting' || !effect.rule.endsWithProcess) continue;
      effect.tries = 0;
      this.#askInTurn(effect);
    }
  }

  /** Its probe, its wait and its turn are over. */
  halt(effect: OpenEffect<I, O>): void {
    const { options, queue } = this.#state;
    const { probe } = effect;
    effect.probe = undefined;
    options.deadlines.remove(effect);
    if (probe !== undefined) queue.call(() => probe.abort(new Error('the probe is over')), undefined);
    const next = this.#turns.leave(effect);
    if (next === undefined) return;
    queue.step(() => {
      if (next.phase === 'queued') this.#ask(next, this.#now());
    }, undefined);
  }

  #now(): number {
    return this.#state.options.clock.now();
  }

  #askInTurn(effect: OpenEffect<I, O>): void {
    if (effect.phase === 'queued') return;
    if (this.#turns.take(effect)) this.#ask(effect, this.#now());
    else {
      effect.phase = 'queued';
      this.#state.options.deadlines.remove(effect);
    }
  }

  #ask(effect: OpenEffect<I, O>, now: number): void {
    const { options, queue } = this.#state;
    const { rule, loss, call } = effect;
    effect.phase = 'asking';
    effect.isFinal =
      now >= effect.finalAt ||
      (rule.endsWithProcess && options.incarnation?.isGone(call.progress.incarnation) === true);
    effect.probes++;
    effect.tries++;
    const controller = new AbortController();
    markOfWork(controller.signal);
    effect.probe = controller;
    effect.due = Math.ceil(now + rule.timeoutMs);
    options.deadlines.set(effect);
    const probe = effect.probes;
    const isCurrent = (): boolean => effect.probe === controller && effect.phase === 'asking';
    const hear = (finding: Finding): void => {
      if (!isCurrent()) return;
      queue.enter();
      this.#heard(effect, finding, this.#now());
      queue.leave();
    };
    const ask = (): unknown => rule.ask(loss.answer, { signal: controller.signal, attempt: probe });
    const answered = (answer: unknown): void => hear(findingOf(answer, rule));
    const failed = (): void => hear({ verdict: 'unknown', how: `${rule.asks} failed` });
    queue.step(() => {
      if (!isCurrent()) return;
      queue.outside();
      observe(ask, answered, failed);
      queue.inside();
    }, undefined);
  }

  /** A probe has answered, or will not. */
  #heard(effect: OpenEffect<I, O>, finding: Finding, now: number): void {
    const { rule, isFinal, finalAt } = effect;
    const { verdict } = finding;
    this.halt(effect);
    if (verdict === 'done' || (verdict === 'not_done' && isFinal)) {
      this.#found(effect, finding);
      return;
    }
    const againInMs = Math.max(backoff.initialMs, finding.againInMs ?? Number.POSITIVE_INFINITY);
    if (now + againInMs < effect.patientUntil) {
      // Nobody was asked: that counts for no attempt.
      effect.tries--;
      this.#askIn(effect, againInMs, now);
      return;
    }
    const maySayMore = finalAt !== Number.POSITIVE_INFINITY && finalAt > now;
    // That it is not there yet says nothing of what comes: the next time that counts is the one after which nothing comes.
    const isLast = effect.tries >= rule.attempts || (verdict === 'not_done' && maySayMore);
    if (!isLast) this.#askIn(effect, backoffDelayMs(backoff, effect.tries + 1, this.#state.options.random), now);
    else if (maySayMore) {
      effect.tries = 0;
      this.#askIn(effect, finalAt - now, now);
    } else {
      const how = verdict === 'not_done' ? `${finding.how}, and it may still happen` : finding.how;
      this.#found(effect, { verdict: 'unknown', how });
    }
  }

  #askIn(effect: OpenEffect<I, O>, delayMs: number, now: number): void {
    effect.phase = 'waiting';
    effect.due = Math.ceil(now + delayMs);
    this.#state.options.deadlines.set(effect);
  }
}

/** Turns to ask: so many at once, the others wait in line, first come first. */
class ProbeTurns<T> {
  readonly #asking = new Set<T>();
  readonly #line = new Set<T>();

  /** @returns whether it may ask now; otherwise it stands in line. */
  take(who: T): boolean {
    if (this.#asking.has(who)) return true;
    if (this.#asking.size < mostProbes) {
      this.#line.delete(who);
      this.#asking.add(who);
      return true;
    }
    this.#line.add(who);
    return false;
  }

  /** Gives back its turn, or its place in line. @returns who has the turn now. */
  leave(who: T): T | undefined {
    this.#line.delete(who);
    if (!this.#asking.delete(who)) return undefined;
    const [next] = this.#line;
    if (next !== undefined) this.take(next);
    return next;
  }
}
