import type { Outcome } from '../policy/failures/failure.ts';
import { Attempt } from './attempt.ts';
import type { AttemptSteps } from './attemptSteps.ts';
import { Call, toolName } from './call.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import type { CallSettings } from './callOptions.ts';
import { Conductor } from './conductor.ts';
import { firstLookMs } from './limits.ts';
import { isOfNobody } from './settingsBrief.ts';
import { StartSteps } from './startSteps.ts';

/**
 * The plain call, from {@link PlainCalls.start} to its settled promise: it is admitted, begins, is answered and settled, at its first attempt and in
 * time. It has no fallback, stream, reconcile rule, scope, rate limit, budget or tracer, and nothing about its integration is out of the ordinary.
 *
 * As soon as anything is not plain, the steps take over, which know every call: {@link StartSteps} before it begins, {@link AttemptSteps} when its work
 * fails, or when something is different by the time it is answered, the {@link Conductor} when its time is over or its caller aborts it.
 */
export class PlainCalls<I, O> extends Conductor<I, O> {
  readonly starts: StartSteps<I, O>;
  /** Listeners that are free for the work of further calls. */
  readonly #listeners: WorkListeners<I, O>[] = [];
  /** The settings that are known to be plain or not: those of calls without options. */
  #settings: CallSettings<I, O> | undefined = undefined;
  #arePlain = false;
  /** Time in ms after its start at which a call with these settings is looked at first. */
  #lookAfterMs = 0;

  constructor(options: CallPathOptions<I, O>) {
    super(options);
    this.starts = new StartSteps(this.state, this.steps);
  }

  /** Makes a call. The row is given back so that its owner can end it; `settled` gets its one outcome. */
  start(input: I, settings: CallSettings<I, O>, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    const { state } = this;
    const { options, circuit, permits } = state;
    const { link } = circuit;
    const { signal } = settings;
    const now = options.clock.now();
    if (settings !== this.#settings) this.#lookAt(settings);

    // Admitted: nobody keeps it back, and the machine knows already that calls are under way.
    const isPlain =
      this.#arePlain &&
      state.queue.isIdle &&
      !state.stopped &&
      state.draining.order === undefined &&
      link.lastState === 'calling' &&
      link.pausedUntil <= now &&
      state.tools.size === 0 &&
      !state.suspicion.raised &&
      permits.taken < permits.limit &&
      signal?.aborted !== true &&
      options.tracing?.tracer === undefined;
    if (!isPlain) return this.starts.start(input, settings, now, settled);

    // It begins: an attempt with a permit, a place in the table, and one in the queue of deadlines.
    const call = new Call(state.watcher, ++state.made, input, settings, now, settled);
    if (signal !== undefined) options.signals.watch(signal, call);
    call.attempts = 1;
    const attempt = new Attempt(call, link.fence, settings.attemptMs, now);
    call.attempt = attempt;
    call.due = Math.ceil(now + this.#lookAfterMs);
    permits.taken++;
    state.inFlight.add(call);
    options.deadlines.set(call);
    link.sync.isUsed = true;
    state.records.episode.kind = undefined;

    // Its work answers at once or later, throws, or never ends.
    let answer: O | PromiseLike<O>;
    try {
      answer = options.operation(input, attempt);
      if (typeof answer === 'object' && typeof (answer as Partial<PromiseLike<O>> | null)?.then === 'function') {
        this.#listen(answer as PromiseLike<O>, attempt);
        return call;
      }
    } catch (error) {
      this.steps.threw(attempt, error);
      return call;
    }
    this.answered(attempt, answer as O);
    return call;
  }

  /** The work of an attempt was answered. */
  answered(attempt: Attempt<Call<I, O>>, value: O): void {
    const { state } = this;
    const { options, circuit, queue, budget, records } = state;
    const { link } = circuit;
    const { call } = attempt;
    const isPlain =
      !attempt.over &&
      link.closed &&
      attempt.fence === link.fence &&
      state.draining.order === undefined &&
      state.pauseProbe.attempt === undefined &&
      state.tools.size === 0 &&
      state.waiting.queued === 0;
    if (!isPlain) {
      this.steps.answered(attempt, value);
      return;
    }

    // Answered: the attempt is over and gives back what it took, and the breaker hears of it.
    const now = options.clock.now();
    attempt.over = true;
    attempt.end();
    call.ending = 'answered';
    call.attempt = undefined;
    state.permits.taken--;
    state.inFlight.delete(call);
    options.deadlines.remove(call);
    circuit.counts.answered(now);
    this.steps.lifecycle.unansweredSince = Number.POSITIVE_INFINITY;
    if (!link.sync.isLingering) link.flushSoon();
    if (!budget.isFull) budget.succeededAtFirst();

    // Settled and counted, once; then the caller is told.
    const tellCaller = call.settle();
    const { signal, isPromised } = call.settings;
    const { statistics, recorder, toolOf } = options;
    if (signal !== undefined) options.signals.unwatch(signal, call);
    records.succeeded++;
    const tool = toolOf === undefined ? undefined : toolName(options, call.input);
    statistics?.succeeded(now - call.startedAt);
    if (tool !== undefined) statistics?.ofTool(tool)?.succeeded(now - call.startedAt);
    recorder?.answered(call, attempt, now, tool);
    if (isPromised === true && !options.facts.wants('call.succeeded')) {
      tellCaller({ ok: true, value });
      return;
    }
    queue.enter();
    queue.call(tellCaller, { ok: true, value });
    records.tellSucceeded(call, now - call.startedAt);
    queue.leave();
  }

  /** Finds out about settings that are not known. Those that belong to one caller are not held on to. */
  #lookAt(settings: CallSettings<I, O>): void {
    const { openEffects } = this.state;
    const { rate, budget, everyEvent, byStep } = this.state.options;
    const { fallback, stream, reconcile, keep, scope, isPart, isProbe, isQuestion, isSentBefore } = settings;
    this.#settings = isOfNobody(settings) ? settings : undefined;
    this.#lookAfterMs = firstLookMs(settings);
    this.#arePlain =
      (rate ?? budget ?? fallback ?? stream ?? reconcile ?? scope) === undefined &&
      ![everyEvent, byStep, isPart, isProbe, isQuestion, isSentBefore].includes(true) &&
      // One that equals it may be under way still.
      (keep === undefined || openEffects.isEmpty) &&
      settings.overallMs > 0;
  }

  /** Listens to work that answers later. */
  #listen(work: PromiseLike<O>, attempt: Attempt<Call<I, O>>): void {
    // A native promise comes back as itself; a value that only looks like one may call back at once.
    const promise = Promise.resolve(work);
    // Of many in flight, listeners of their own take less than those that are used again.
    if (promise.then === nativeThen && this.state.inFlight.size <= mostKept) {
      const listeners = this.#listeners.pop() ?? new WorkListeners(this, this.steps, this.#listeners);
      listeners.attempt = attempt;
      // Not asked for again: the next time it may be another.
      nativeThen.call(promise, listeners.answered, listeners.threw);
    } else {
      // A `then` of somebody else's making may call back twice: by then the pair would be another attempt's.
      promise.then(
        (value) => this.answered(attempt, value),
        (error) => this.steps.threw(attempt, error),
      );
    }
  }
}

type Then = (this: object, answered: (value: never) => void, threw: (error: unknown) => void) => unknown;

const nativeThen = Reflect.get(Promise.prototype, 'then') as Then;

/** Pairs of listeners that are kept for further calls. */
const mostKept = 64;

/** A pair of listeners, and the attempt they listen for. Used again: two closures for each call would be a tenth of its time. */
class WorkListeners<I, O> {
  attempt: Attempt<Call<I, O>> | undefined = undefined;
  readonly answered: (value: O) => void;
  readonly threw: (error: unknown) => void;

  constructor(calls: PlainCalls<I, O>, steps: AttemptSteps<I, O>, free: WorkListeners<I, O>[]) {
    const take = (): Attempt<Call<I, O>> => {
      const { attempt } = this;
      // Or what the attempt holds would stay until the next one.
      this.attempt = undefined;
      if (free.length < mostKept) free.push(this);
      return attempt as Attempt<Call<I, O>>;
    };
    this.answered = (value) => calls.answered(take(), value);
    this.threw = (error) => steps.threw(take(), error);
  }
}
