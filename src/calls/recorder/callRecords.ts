import type { CountedFailure } from '../../policy/records/breakerCause.ts';
import type { CallFact } from '../../policy/facts/callFacts.ts';
import type { FactMap } from '../../policy/facts/facts.ts';
import type { AttemptEnd } from '../../policy/records/flight.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import type { Failure, FailureFacts, FailureKind } from '../../policy/failures/failure.ts';
import { lastMet, wasSent } from '../../policy/records/lastMet.ts';
import { mayGetThrough } from '../../policy/failures/repetition.ts';
import type { Attempt } from '../attempt.ts';
import { type Call, toolName } from '../call.ts';
import type { CallCounter } from './callCounter.ts';
import { whyOf } from '../callWhy.ts';
import type { CallPathOptions } from '../callPathOptions.ts';
import type { EffectQueue } from './effectQueue.ts';
import { stackOf } from '../errorText.ts';
import { limitMsOf, limitThatPassed } from '../limits.ts';
import type { KeptCall, OpenEffect } from '../reconcile/openEffects.ts';
import type { RatePlace } from '../rates/ratePlace.ts';

/** Time in ms between notes that calls wait for a rate limit. */
const rateToldEveryMs = 10_000;

/** Refusals of one cause, which come in floods: the first is told, the others are counted. */
export class RefusalEpisode {
  /** Kind of the refusals that were told; undefined when the next one is told. */
  kind: FailureKind | undefined = undefined;
  /** Refusals that were not told. */
  untold = 0;
}

/**
 * Records of calls for the outside: each retry and each final failure once, refusals once per episode, late ends always; and the counts of all of them.
 */
export class CallRecords<I, O> {
  succeeded = 0;
  failed = 0;
  refused = 0;
  fellBack = 0;
  late = 0;
  #rateWaits = 0;
  #rateToldAt = Number.NEGATIVE_INFINITY;
  readonly #options: CallPathOptions<I, O>;
  readonly #queue: EffectQueue;
  /** The refusals that came since a call was last admitted. */
  readonly episode = new RefusalEpisode();

  /** @param queue - where facts go out. */
  constructor(options: CallPathOptions<I, O>, queue: EffectQueue) {
    this.#options = options;
    this.#queue = queue;
  }

  /** A call was admitted, so the episode of refusals is over: the next refusal is told. */
  endRefusals(): void {
    this.episode.kind = undefined;
  }

  /**
   * Refusals come in floods: the first of an episode is told with the number of those before it that were not.
   * @returns whether somebody hears of this one.
   */
  callRefused(call: Call<I, O>, facts: FailureFacts, episode = this.episode): boolean {
    const { kind, message, retryAfterMs } = facts;
    this.refused++;
    this.#ended(call, facts, 'refused');
    for (const counter of this.#counters(call)) counter.refused();
    if (kind === episode.kind) {
      episode.untold++;
      return false;
    }
    episode.kind = kind;
    const refused = episode.untold;
    episode.untold = 0;
    const hopeless = mayGetThrough(facts) ? undefined : ({ retryable: false } as const);
    const about = { ...this.#about(call), kind, message, retryAfterMs, ...hopeless };
    return this.#queue.tell({ type: 'call.refused', ...about, refused });
  }

  callRetried(call: Call<I, O>, { kind, message }: FailureFacts, delayMs: number | null): void {
    for (const counter of this.#counters(call)) counter.retried();
    if (!this.#queue.wants('call.retried')) return;
    this.#queue.tell({ type: 'call.retried', ...this.#about(call), attempt: call.attempts, kind, message, delayMs });
  }

  firstChunkCame(call: Call<I, O>, afterMs: number): void {
    for (const counter of this.#counters(call)) counter.firstChunkCame(afterMs);
    this.#queue.tell({ type: 'call.first_chunk', ...this.#about(call), attempt: call.attempts, afterMs });
  }

  /** @param attempt - which was answered; undefined where its answer was lost. */
  callSucceeded(call: Call<I, O>, attempt: Attempt<Call<I, O>> | undefined): void {
    this.succeeded++;
    const { recorder } = this.#options;
    if (call.settings.isPart === true) return;
    const now = this.#options.clock.now();
    const elapsedMs = now - call.startedAt;
    for (const counter of this.#counters(call)) counter.succeeded(elapsedMs);
    if (attempt !== undefined) recorder?.answered(call, attempt, now, toolName(this.#options, call.input));
    this.tellSucceeded(call, elapsedMs);
  }

  tellSucceeded(call: Call<I, O>, elapsedMs: number): void {
    if (!this.#queue.wants('call.succeeded')) return;
    this.#queue.tell({ type: 'call.succeeded', ...this.#about(call), attempts: call.attempts, elapsedMs });
  }

  /** The integration's own harmless probe was answered. */
  probeAnswered(call: Call<I, O>, attempt: Attempt<Call<I, O>>): void {
    this.#options.recorder?.answered(call, attempt, this.#options.clock.now(), undefined);
  }

  /** An attempt ended without an answer. */
  attemptFailed(attempt: Attempt<Call<I, O>>, facts: FailureFacts, end: AttemptEnd): void {
    const { recorder } = this.#options;
    const { call } = attempt;
    if (recorder === undefined || call.settings.isPart === true) return;
    recorder.failed(call, attempt, {
      facts,
      end,
      tool: toolName(this.#options, call.input),
      now: this.#options.clock.now(),
    });
  }

  /**
   * Half of a limit has passed: told once for each call.
   * @param goesOn - whether its attempt goes on at the idle limit while the other side answers.
   */
  callPending(call: Call<I, O>, goesOn = false): void {
    call.ownProgress().isPendingTold = true;
    const why = whyOf(call, this.#options.clock, goesOn);
    const { input, settings, startedAt, attempts: attempt } = call;
    if (why === undefined || settings.isPart === true || settings.isProbe === true) return;
    const isPinged = why.next.rule === 'ping';
    // A ping ends no call whose server lives: what does is the next of its rules.
    const { rule, inMs } = isPinged ? (why.also?.[0] ?? why.next) : why.next;
    this.#queue.tell({
      type: 'call.pending',
      ...this.#about(call),
      tool: toolName(this.#options, input),
      attempt,
      waitsFor: why.phase,
      elapsedMs: this.#options.clock.now() - startedAt,
      silentMs: why.silentMs,
      rule,
      limitMs: limitMsOf(rule, call),
      nextInMs: inMs,
      ...(isPinged && { pingInMs: why.next.inMs }),
    });
  }

  /** It is asked what became of a call. */
  reconciling({ call, loss, rule }: OpenEffect<I, O>): void {
    const { kind, message } = loss.facts;
    const { tool } = loss.answer;
    const about = { ...this.#about(call), tool, attempt: loss.attempt, asks: rule.asks, kind, message };
    this.#queue.tell({ type: 'call.reconciling', ...about });
  }

  /** The work of a call goes on, as it is kept. */
  kept({ call, loss, inputKey }: OpenEffect<I, O>, forMs: number): void {
    const { tool, call: id } = loss.answer;
    this.#queue.tell({ type: 'call.kept', ...this.#about(call), tool, attempt: loss.attempt, id, inputKey, forMs });
  }

  /** A call was not made, as an equal one is or was kept. */
  joined(call: Call<I, O>, { id, startedAt }: KeptCall, found: 'running' | 'failed' | Finding['verdict']): void {
    const agoMs = this.#options.clock.now() - startedAt;
    const tool = toolName(this.#options, call.input);
    this.#queue.tell({ type: 'call.joined', ...this.#about(call), tool, of: id, found, agoMs });
  }

  keptEnded({ call, loss, held }: OpenEffect<I, O>, how: FactMap['call.kept_ended']['how']): void {
    const { tool, call: id } = loss.answer;
    const about = { ...this.#about(call), tool, id, how, afterMs: this.#options.clock.now() - loss.at };
    this.#queue.tell({ type: 'call.kept_ended', ...about, waited: held.size });
  }

  /** @param late - whether its caller had been answered before. */
  reconciled(
    { call, loss, probes }: OpenEffect<I, O>,
    { verdict, how }: Pick<Finding, 'verdict' | 'how'>,
    late: boolean,
  ): void {
    const { tool } = loss.answer;
    const afterMs = this.#options.clock.now() - loss.at;
    this.#queue.tell({ type: 'call.reconciled', ...this.#about(call), tool, verdict, how, afterMs, probes, late });
  }

  /** The integration stops while it is asked. */
  reconcileLeft(effect: OpenEffect<I, O>): void {
    this.reconciled(effect, { verdict: 'unknown', how: 'stopped before it was known' }, true);
  }

  callFailed(call: Call<I, O>, failure: Failure): void {
    this.failed++;
    if (call.settings.isPart === true) return;
    const { about, failed, policy } = this.#options;
    const { input, settings } = call;
    this.#ended(call, failure, 'failed');
    const { kind } = lastMet(failure);
    for (const counter of this.#counters(call))
      if (wasSent(failure)) counter.failed(kind);
      else counter.refused();
    // A spread with further fields takes V8 ten times as long.
    const fact = Object.assign({ type: 'call.failed' as const }, this.#about(call), {
      integrationType: about?.type,
      tool: toolName(this.#options, input),
      provider: about?.provider,
      model: about?.modelOf?.(input),
      failure,
      retryCount: Math.max(0, call.attempts - 1),
      // Whole, as it is told: a fact in which nothing is to be changed is not copied.
      elapsedMs: Math.round(this.#options.clock.now() - call.startedAt),
      stack: stackOf(failure.cause),
      limit: limitThatPassed(failure, settings, policy.limits),
    });
    this.#queue.tell(fact);
    if (call.attempts > 0 && failed !== undefined)
      this.#queue.call(() => failed(input, failure, this.#about(call)), undefined);
  }

  callFellBack(call: Call<I, O>, failure: Failure): void {
    const { kind } = failure;
    this.fellBack++;
    this.#ended(call, failure, 'fell_back');
    // A refusal was counted as one: nothing was sent.
    if (call.ending !== 'refused') {
      this.failed++;
      const met = lastMet(failure).kind;
      for (const counter of this.#counters(call))
        if (wasSent(failure)) counter.fellBack(met);
        else counter.refused();
    }
    this.#queue.tell({ type: 'call.fell_back', ...this.#about(call), kind });
  }

  attemptWasLate({ call, number: attempt, givenUp }: Attempt<Call<I, O>>, error: string | undefined): void {
    this.late++;
    const now = this.#options.clock.now();
    const lateByMs = Math.round(now - (givenUp?.since ?? now));
    const ended = { attempt, ok: error === undefined, lateByMs, error };
    this.#queue.tell(Object.assign({ type: 'call.late' as const }, this.#about(call), ended));
  }

  /** A failed attempt as what opens a circuit is told. */
  countedFailure(
    { call, number: attempt }: Attempt<Call<I, O>>,
    { kind, reason, message }: FailureFacts,
  ): CountedFailure {
    const { call: id, label, session } = this.#about(call);
    return {
      kind,
      reason,
      message,
      call: id,
      attempt,
      label,
      session,
      at: this.#options.clock.wallNow(),
    };
  }

  attemptAbandoned({ call, number: attempt }: Attempt<Call<I, O>>, abandoned: number): void {
    this.#queue.tell({ type: 'call.abandoned', ...this.#about(call), attempt, abandoned });
  }

  /** Calls that wait for a rate limit come in floods: one is told now and then, with how many were not. */
  rateWaited({ heldBack, waitMs }: RatePlace): void {
    this.#rateWaits++;
    const now = this.#options.clock.now();
    if (heldBack === undefined || now < this.#rateToldAt + rateToldEveryMs) return;
    const { of, limit, perMs } = heldBack;
    const about = { of, limit, perMs, waitMs, calls: this.#rateWaits };
    this.#rateToldAt = now;
    this.#rateWaits = 0;
    this.#queue.tell({ type: 'integration.rate_limited', integration: this.#options.name, ...about });
  }

  paused(pauseMs: number): void {
    this.#queue.tell({ type: 'integration.paused', integration: this.#options.name, pauseMs });
  }

  crashed(message: string): void {
    this.#queue.tell({ type: 'integration.crashed', integration: this.#options.name, message });
  }

  restartFailed(message: string): void {
    this.#queue.tell({ type: 'integration.restart_failed', integration: this.#options.name, message });
  }

  restarted(downMs: number): void {
    this.#options.statistics?.restarted();
    this.#queue.tell({ type: 'integration.restarted', integration: this.#options.name, downMs });
  }

  #ended(call: Call<I, O>, facts: FailureFacts, end: 'failed' | 'refused' | 'fell_back'): void {
    const { recorder } = this.#options;
    if (recorder === undefined || call.settings.isPart === true) return;
    recorder.ended(call, { facts, end, tool: toolName(this.#options, call.input), now: this.#options.clock.now() });
  }

  /** Returns the counters of a call: of the integration and of its tool. The question of a reconcile rule is counted as a tool of its own. */
  #counters({ input, settings }: Call<I, O>): readonly CallCounter[] {
    const { statistics } = this.#options;
    if (statistics === undefined) return [];
    const tool = toolName(this.#options, input);
    const isQuestion = settings.isQuestion === true;
    const ofTool = statistics.ofTool(isQuestion ? `${tool ?? settings.label ?? 'probe'} (reconcile)` : tool);
    if (isQuestion) return ofTool === undefined ? [] : [ofTool];
    return ofTool === undefined ? [statistics] : [statistics, ofTool];
  }

  #about(call: Call<I, O>): CallFact {
    const { name } = this.#options;
    const { label, session } = call.settings;
    return { integration: name, call: `${name}-${call.number}`, label, session };
  }
}
