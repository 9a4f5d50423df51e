import { read, readString } from '../policy/failures/errorChain.ts';
import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { newIdempotencyKey } from '../policy/idempotencyKey.ts';
import type { Asked, KeyRule } from '../policy/reconciler.ts';
import type { AttemptSteps } from './attemptSteps.ts';
import { type Call, toolName } from './call.ts';
import { mayHaveBegun } from './callFailure.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import type { CallSettings } from './callOptions.ts';
import type { Finding } from '../policy/reconcileMatch.ts';
import { keptCallOf } from './reconcile/keptSteps.ts';
import { keyOf } from './reconcile/keptWork.ts';
import { effectOf, inputKeyOf, type Remembered } from './reconcile/openEffects.ts';
import type { PathState } from './pathState.ts';
import * as refusal from './refusal.ts';
import type { CallTrace } from './tracing.ts';

/** The beginning of a call that is not plain: its row with all that it is given, up to its first admission. */
export class StartSteps<I, O> {
  readonly #state: PathState<I, O>;
  readonly #steps: AttemptSteps<I, O>;

  constructor(state: PathState<I, O>, steps: AttemptSteps<I, O>) {
    this.#state = state;
    this.#steps = steps;
  }

  /** @param now - monotonic time in ms, which has just been read. */
  start(input: I, settings: CallSettings<I, O>, now: number, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    const state = this.#state;
    const { options, queue, draining } = state;
    const { admission, settlement, reconciling } = this.#steps;
    const { signal, reconcile, keep } = settings;
    const key =
      reconcile?.kind === 'key' ? (settings.idempotencyKey ?? this.newKey(reconcile, input, settings)) : undefined;
    const sent = reconcile?.kind === 'key' && key !== undefined ? (reconcile.keyed(input as never, key) as I) : input;
    const call = admission.makeCall(sent, settings, now, settled);
    if (key !== undefined) Object.assign(call.ownProgress(), { idempotencyKey: key, keyless: input });
    if (settings.isSentBefore === true) call.ownProgress().effect = 'unknown';
    // Before the step: it runs functions of the caller's.
    const isCounted = settings.isQuestion !== true && options.isCounted?.(input) !== false;
    if (options.budget !== undefined && isCounted) call.ownProgress().budget = options.budget;
    if (options.rate !== undefined) call.ownProgress().rate = options.rate.placeOf(input, call);
    if (options.tracing?.tracer !== undefined) call.ownProgress().trace = traceOf(options, call);
    queue.enter();
    if (state.stopped) settlement.refuse(call, refusal.stopped(options.name));
    else if (signal?.aborted === true) settlement.fail(call, refusal.cancelled(signal.reason, false));
    else if (draining.refuses(settings)) settlement.refuse(call, refusal.stopping(options.name));
    else {
      if (signal !== undefined) options.signals.watch(signal, call);
      if ((reconcile ?? keep) !== undefined && reconciling.holds(call)) {
        // It waits for the verdict on another call, or has been answered by one.
      } else if (settings.scope === undefined) admission.proceed(call, now);
      else this.#enterScope(call, settings.scope, now);
    }
    queue.leave();
    return call;
  }

  /**
   * Takes up a call that an earlier process made, and whose answer was lost with that: it is asked what became of it. It is not made again.
   * @param lost - when it was made (wall time), and how it was lost.
   */
  recover(
    input: I,
    settings: CallSettings<I, O>,
    lost: { readonly startedAt: number; readonly facts: FailureFacts },
    settled: (outcome: Outcome<O>) => void,
  ): Call<I, O> {
    const { options, queue } = this.#state;
    const retry = { ...settings.retry, maxAttempts: 1 };
    const call = this.#steps.admission.makeCall(input, { ...settings, retry }, options.clock.now(), settled);
    call.attempts = 1;
    // Processes of an earlier gateway are not ours: of their end nothing is known here.
    call.ownProgress().sentAt = lost.startedAt;
    queue.change(() => {
      if (this.#state.stopped) this.#steps.settlement.fail(call, refusal.stopped(options.name));
      else this.#steps.retryOrEnd(call, lost.facts);
    });
    return call;
  }

  /** The key of a new call: that of an equal one of its session whose outcome is not known, so that both are one to the other side. */
  newKey({ about }: KeyRule, input: I, { session }: Pick<CallSettings<I, O>, 'session'>): string {
    const { openEffects, options } = this.#state;
    const { clock, random } = options;
    const known = session === undefined || openEffects.isEmpty ? undefined : inputKeyOf(about(input as never));
    const remembered =
      session === undefined || known === undefined ? undefined : openEffects.keyFor(session, known, clock.now());
    return remembered ?? newIdempotencyKey(random, clock.wallNow());
  }

  /** Tells whether a call of a session would not be made, as an equal one is or was kept. @param asked - what it asks for. */
  joins(session: string, asked: Asked): boolean {
    const { openEffects } = this.#state;
    const key = openEffects.isEmpty ? undefined : inputKeyOf(asked);
    return key !== undefined && openEffects.knows(session, asked.tool, key);
  }

  /** Takes up what is known of a call that an earlier process had kept. @param key - its {@link inputKeyOf}. */
  restoreKept(session: string, key: string | undefined, known: Remembered): void {
    const { openEffects } = this.#state;
    if (key !== undefined && !openEffects.knowsKept(session, known.kept?.id ?? ''))
      openEffects.remember(session, key, known);
  }

  /** Takes back what a call was answered (`at`, in monotonic ms), as its caller had left by then: the next equal one is given it. */
  takeBack(call: Call<I, O>, outcome: Outcome<O>, at: number): void {
    const { settings, progress, number, startedAt } = call;
    if (settings.session === undefined) return;
    const effect = effectOf(call);
    const own = { id: `${this.#state.options.name}-${number}`, startedAt, given: undefined };
    const finding: Finding = outcome.ok
      ? { verdict: 'done', how: 'answered', result: { value: outcome.value } }
      : { verdict: 'unknown', how: outcome.failure.message };
    const known = progress.recalled as Remembered | undefined;
    const kept = effect === undefined ? own : keptCallOf(effect);
    this.restoreKept(settings.session, keyOf(call), known ?? { at, kept, finding });
  }

  #enterScope(call: Call<I, O>, scope: string, now: number): void {
    const { scopes, queue, options } = this.#state;
    const { admission, settlement } = this.#steps;
    const holder = scopes.holder(scope);
    if (holder !== undefined && call.settings.replace !== true) {
      settlement.refuse(call, refusal.scopeBusy(options.name, scope, undefined));
      return;
    }
    scopes.take(scope, call);
    if (holder === undefined) {
      admission.proceed(call, now);
      return;
    }
    this.#steps.end(holder, refusal.replaced(scope, mayHaveBegun(holder)));
    // Listeners of the abort may have taken any time.
    queue.step(() => admission.proceed(call), undefined);
  }
}

/** Has the tracer of a path follow a call, which it is told of by names alone; undefined where there is no tracer. */
function traceOf<I, O>(options: CallPathOptions<I, O>, call: Call<I, O>): CallTrace | undefined {
  const { name, about, tracing } = options;
  const { input, number, settings } = call;
  const tracer = tracing?.tracer;
  // The call that it is part of is told of.
  if (tracer === undefined || settings.isPart === true) return undefined;
  const { method, ...names } = about?.namesOf?.(input) ?? {};
  return tracer.callBegins({
    ...names,
    integration: name,
    number,
    type: about?.type,
    tool: toolName(options, input),
    provider: about?.provider,
    model: about?.modelOf?.(input),
    label: settings.label,
    session: settings.session,
    method: method ?? (about?.type === 'http' ? (readString(input, 'method') ?? methodOf(input)) : undefined),
    server: about?.server,
  });
}

/** A request that names no method is a GET; an input without a path is no request. */
function methodOf(input: unknown): string | undefined {
  return read(input, 'path') === undefined ? undefined : 'GET';
}
