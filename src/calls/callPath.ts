import type { Comeback } from './outage.ts';
import type { IntegrationRef } from '../machines/integration.ts';
import type { IntegrationEvent } from '../machines/integrationEvents.ts';
import type { BreakerCause } from '../policy/breakerCause.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import type { Flight } from '../policy/flight.ts';
import { notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { newIdempotencyKey } from '../policy/idempotencyKey.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { Call } from './call.ts';
import { callFailure, knownAtEnd } from './callFailure.ts';
import type { Beginning, CallPathOptions, CallStats, Learnt, OpenCircuit } from './callPathOptions.ts';
import type { CallSettings } from './callSettings.ts';
import { type CallWhy, whyOf } from './callWhy.ts';
import { Conductor } from './conductor.ts';
import type { Drainable, DrainOrder } from './draining.ts';
import type { MachineLink } from './machineLink.ts';
import { probeNow } from './probeNow.ts';
import type { RateWait } from './rateBucket.ts';
import { inputKeyOf } from './openEffects.ts';
import type { KeyRule } from '../policy/reconciler.ts';
import * as refusal from './refusal.ts';
import { recordedFailure } from './settingsBrief.ts';
import type { OpenToolCircuit, ToolCircuitState } from './toolCircuits.ts';
import { goesOnWhenSilent } from './silence.ts';
import { toolName } from './toolName.ts';
import { traceOf } from './traceOf.ts';

/**
 * The way of every call to an integration: admission, attempts and waits in turn, and one settlement. A call is a row here, not an actor; the
 * machine is told what could change its state and decides it.
 *
 * The caller is settled at the deadline; work that goes on after that is aborted, fenced and, if need be, abandoned. Each method is one
 * step: it changes the state completely, and then tells others, in the same turn. Anybody who hears of something may call back into the
 * path, end calls or stop it.
 */
export class CallPath<I, O> implements Drainable {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly link: MachineLink;
  readonly #conductor: Conductor<I, O>;
  #lastHold = 0;

  constructor(options: CallPathOptions<I, O>) {
    this.#conductor = new Conductor(options);
    this.name = options.name;
    this.policy = options.policy;
    this.link = this.#conductor.state.circuit.link;
  }

  get stats(): CallStats {
    const { inFlight, waiting, records, permits, budget } = this.#conductor.state;
    return {
      attempts: inFlight.size,
      waiting: waiting.size,
      succeeded: records.succeeded,
      failed: records.failed,
      refused: records.refused,
      fellBack: records.fellBack,
      late: records.late,
      abandoned: permits.abandoned,
      retryTokens: budget.tokens,
    };
  }

  /** True while its server was asked for a sign of life and has not answered yet. */
  get isSuspect(): boolean {
    return this.#conductor.state.suspicion.raised;
  }

  /** Comeback of its server, which is gone; undefined while it is there. */
  get comeback(): Comeback | undefined {
    const { outage, options } = this.#conductor.state;
    if (outage.last === undefined) return undefined;
    const inMs = options.restartInMs?.();
    return {
      ...(inMs !== undefined && { inMs: Math.max(0, Math.round(inMs)) }),
      ...(outage.last.reason === 'restarted' && { ordered: true }),
    };
  }

  /** Pending calls that were told of: half of a limit that ends them has passed. */
  get pendingLong(): number {
    const { inFlight, waiting } = this.#conductor.state;
    return [...inFlight.list(), ...waiting.list()].filter(({ progress }) => progress.isPendingTold).length;
  }

  /**
   * Takes all that its recorder holds and that was not taken before, and the calls under way.
   * @param wallOffset - what makes wall time of monotonic time, in whole ms.
   */
  takeFlight(wallOffset: number): Flight | undefined {
    const { inFlight, waiting, fallingBack, options } = this.#conductor.state;
    const { clock, recorder } = options;
    const calls = [...inFlight.list(), ...waiting.list(), ...fallingBack].filter(
      ({ settings }) => settings.isPart !== true,
    );
    const pending = calls.map((call) => ({ call, tool: toolName(options, call.input) }));
    return recorder?.take(pending, clock.now(), wallOffset);
  }

  /** The rate limit that the call waits for which has waited longest; undefined where none waits for one. */
  get rateWait(): RateWait | undefined {
    const { waiting, options } = this.#conductor.state;
    return options.rate === undefined ? undefined : waiting.list('rate')[0]?.rate?.heldBack;
  }

  /** Makes a call. The row is given back so that its owner can end it; `settled` gets its one outcome. */
  start(input: I, settings: CallSettings<I, O>, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    const { state, steps } = this.#conductor;
    const now = state.options.clock.now();
    const { signal, reconcile } = settings;
    const key =
      reconcile?.kind === 'key' ? (settings.idempotencyKey ?? this.newKey(reconcile, input, settings)) : undefined;
    const sent = reconcile?.kind === 'key' && key !== undefined ? (reconcile.keyed(input as never, key) as I) : input;
    const call = steps.admission.makeCall(sent, settings, now, settled);
    if (key !== undefined) Object.assign(call.ownProgress(), { idempotencyKey: key, keyless: input });
    if (settings.isSentBefore === true) call.ownProgress().effect = 'unknown';
    // Before the step: it runs functions of the caller's.
    if (state.options.rate !== undefined) call.ownProgress().rate = state.options.rate.placeOf(input, call);
    if (state.options.tracing?.tracer !== undefined && settings.isPart !== true)
      call.ownProgress().trace = traceOf(state.options, call);
    state.queue.enter();
    if (state.stopped) steps.settlement.refuse(call, refusal.stopped(this.name));
    else if (signal?.aborted === true) steps.settlement.fail(call, refusal.cancelled(signal.reason, false));
    else if (state.draining.refuses(settings)) steps.settlement.refuse(call, refusal.stopping(this.name));
    else {
      if (signal !== undefined) state.options.signals.watch(signal, call);
      if (settings.reconcile !== undefined && steps.reconciling.holds(call)) {
        // It waits for the verdict on another call, or has been answered by one.
      } else if (settings.scope === undefined) steps.admission.proceed(call, now);
      else this.#enterScope(call, settings.scope, now);
    }
    state.queue.leave();
    return call;
  }

  /**
   * Takes up a call that an earlier process made, and whose answer was lost with that: it is asked what became of it. It is not made again.
   * @param lost - when it was made (wall time), and how it was lost.
   */
  recover(
    input: I,
    settings: CallSettings<I, O>,
    { startedAt, facts }: { readonly startedAt: number; readonly facts: FailureFacts },
    settled: (outcome: Outcome<O>) => void,
  ): Call<I, O> {
    const { state, steps } = this.#conductor;
    const retry = { ...settings.retry, maxAttempts: 1 };
    const call = steps.admission.makeCall(input, { ...settings, retry }, state.options.clock.now(), settled);
    call.attempts = 1;
    // Processes of an earlier gateway are not ours: of their end nothing is known here.
    call.ownProgress().sentAt = startedAt;
    this.#step(() => {
      if (state.stopped) steps.settlement.fail(call, refusal.stopped(this.name));
      else steps.retryOrEnd(call, facts);
    });
    return call;
  }

  /** The key of a new call: that of an equal one of its session whose outcome is not known, so that both are one to the other side. */
  newKey({ about }: KeyRule, input: I, { session }: Pick<CallSettings<I, O>, 'session'>): string {
    const { state } = this.#conductor;
    const { clock, random } = state.options;
    const { tool, input: given } = about(input as never);
    const known = session === undefined || state.openEffects.isEmpty ? undefined : inputKeyOf(tool, given);
    const remembered =
      session === undefined || known === undefined ? undefined : state.openEffects.keyFor(session, known, clock.now());
    return remembered ?? newIdempotencyKey(random, clock.wallNow());
  }

  /**
   * Ends a call that has not ended yet, for the reason given.
   * @returns the failure that it ends with, of which its caller may hear only once this step of the path is over; undefined where it had ended.
   */
  end(call: Call<I, O>, facts: FailureFacts): Failure | undefined {
    const failure =
      call.settled || call.ending !== undefined ? undefined : callFailure(call, knownAtEnd(call, facts), this.name);
    this.#step(() => this.#conductor.steps.end(call, facts));
    return failure;
  }

  /** Says what a call waits for; undefined once it is settled. */
  why(call: Call<I, O>): CallWhy | undefined {
    const { state } = this.#conductor;
    const { attempt } = call;
    return whyOf(call, state.options.clock, attempt !== undefined && goesOnWhenSilent(state, attempt));
  }

  /**
   * Has the rule act now that comes next for a call, as if its time had come.
   * @param rule - its id, as {@link CallPath.why} told it.
   * @param announce - told before it acts, where it does.
   * @param note - who wants it, and why. @defaultValue not said
   */
  fire(call: Call<I, O>, rule: string, announce: () => void, note: OrderNote = {}): OrderResult {
    const next = this.why(call)?.next;
    if (next === undefined) return notDone('The call has ended.');
    if (next.id !== rule) return notDone(`Something else comes next by now: ${next.rule}.`);
    if (next.of !== undefined)
      return notDone(`It is a limit of ${next.of}, which may try again: the call can be cancelled instead.`);
    const act = (): void => {
      this.#conductor.befell({ input: 'fired', call: call.number, rule: next.rule });
      announce();
    };
    return this.#step(() => this.#conductor.fire(call, next, act, note));
  }

  /** Has no further attempt follow. @param announce - told before, where one could have. */
  stopRetrying(call: Call<I, O>, announce: () => void): OrderResult {
    const act = (): void => {
      this.#conductor.befell({ input: 'retriesStopped', call: call.number });
      announce();
    };
    return this.#step(() => this.#conductor.stopRetrying(call, act));
  }

  /** Has an open circuit, or a server that asked not to be called, probed now. */
  probe(note: OrderNote = {}): OrderResult {
    const { state, steps } = this.#conductor;
    const result = this.#step(() => probeNow(state, steps, note));
    if (result.ok) this.#conductor.befell({ input: 'probed' });
    return result;
  }

  /** Ends the call that holds a scope. @returns false when none does. */
  endScope(scope: string, reason: unknown): boolean {
    const holder = this.#conductor.state.scopes.holder(scope);
    if (holder !== undefined) this.end(holder, refusal.cancelled(reason, holder.attempt !== undefined));
    return holder !== undefined;
  }

  /**
   * The server of the integration is gone: its attempts end, and what may be tried again waits for the restart.
   * @param quietly - it ended as it was to: nothing is told, and its coming back neither.
   */
  crashed(facts: FailureFacts, quietly = false): void {
    const { state } = this.#conductor;
    if (state.stopped) return;
    this.#conductor.befell({ input: 'crashed', failure: recordedFailure(facts), quietly });
    this.#step(() => {
      // A restart takes it back into service from here on, not the end of work that was abandoned.
      state.outage.overwhelmed = false;
      this.#conductor.lose(facts, quietly);
      this.#conductor.endSuspicion();
    });
  }

  /** The server of the integration is there again, and nothing of what was going on before. */
  restarted(): void {
    const { state, steps } = this.#conductor;
    if (state.stopped) return;
    this.#conductor.befell({ input: 'restarted' });
    this.#step(() => {
      state.permits.forgive();
      state.tools.restarted();
      steps.endOutage();
      state.queue.step(this.#forgive, undefined);
    });
  }

  /** Closes the circuit, forgets what was counted, and takes a crashed function back into service. */
  reset(): void {
    if (this.#conductor.state.stopped) return;
    this.#conductor.befell({ input: 'reset' });
    this.#reset();
  }

  #reset(): void {
    const { state, steps } = this.#conductor;
    this.#step(() => {
      state.permits.forgive();
      this.link.reset();
      state.tools.resetAll();
      state.queue.step(() => {
        if (state.outage.overwhelmed) steps.endOutage();
        this.#conductor.resume('pause');
        state.queue.step(this.#forgive, undefined);
      }, undefined);
    });
  }

  /** Why the circuit is open; undefined while it is not, and where nobody knows. */
  get openedBy(): BreakerCause | undefined {
    return this.#conductor.state.circuit.failures.cause;
  }

  /** The circuit of a tool, as of now. */
  toolCircuit(tool: string): ToolCircuitState {
    return this.#conductor.state.tools.stateOf(tool);
  }

  /** The circuits of its tools that are not closed. */
  get openTools(): readonly OpenToolCircuit[] {
    return this.#conductor.state.tools.open;
  }

  /** Forces the circuit of a tool open until the returned function is called (once). */
  isolateTool(tool: string): () => void {
    const { state } = this.#conductor;
    return state.stopped ? () => undefined : this.#held(() => state.tools.isolate(tool), tool);
  }

  /** Forces the circuit open until the returned function is called (once). */
  isolate(): () => void {
    return this.#held(() => this.link.isolate(), undefined);
  }

  #held(isolate: () => () => void, tool: string | undefined): () => void {
    const of = { hold: ++this.#lastHold, ...(tool !== undefined && { tool }) };
    this.#conductor.befell({ input: 'isolated', ...of });
    const release = isolate();
    return () => {
      this.#conductor.befell({ input: 'released', ...of });
      release();
    };
  }

  /** Closes the circuit of a tool. */
  resetTool(tool: string): void {
    const { state } = this.#conductor;
    if (state.stopped) return;
    this.#conductor.befell({ input: 'toolReset', tool });
    state.tools.reset(tool);
  }

  /**
   * Does an operator's restart of an integration without a process of its own: calls in flight end with reason `restarted`, their work is aborted, and the
   * rest is as after {@link reset}. Calls that wait go on.
   */
  restart(): void {
    const { state, steps } = this.#conductor;
    if (state.stopped) return;
    const calls = state.inFlight.list();
    this.#conductor.befell({ input: 'restart' });
    this.#step(() => {
      // The reset comes first: the failures of the calls that end then belong to an old generation and count for nothing, and calls that
      // wait for a probe are not refused when that probe ends.
      this.#reset();
      state.queue.each(calls, (call) => steps.end(call, refusal.restarted(this.name)));
    });
  }

  /** Takes the machine of a new incarnation; attempts of the one before end. */
  attach(ref: IntegrationRef, { open, pausedUntil, down = false }: Beginning = {}): void {
    const { state, steps } = this.#conductor;
    if (state.stopped) return;
    this.#conductor.befell({ input: 'attached', down, ...this.#inMs(open, pausedUntil) });
    this.#step(() => {
      const { outage, inFlight, circuit } = state;
      outage.overwhelmed = false;
      // Before its attempts are ended: that our own machine is gone says nothing about the server.
      this.link.detach();
      for (const call of inFlight.list()) steps.end(call, refusal.machineLost(this.name));
      const first: IntegrationEvent[] = [];
      if (open !== undefined) {
        const { cause, ...restored } = open;
        circuit.failures.cause ??= cause;
        first.push({ type: 'breaker.restore', ...restored, rule: cause?.rule });
      }
      if (pausedUntil !== undefined) first.push({ type: 'integration.paused', until: pausedUntil });
      if (down) outage.startsDown(this.#conductor.now(), !this.link.started);
      // A first start is no restart; only a circuit that an earlier run left open is closed by it.
      const awaitsStart = down && open === undefined && !this.link.started;
      if (down && !awaitsStart) first.push({ type: 'integration.lost' });
      this.link.attach(ref, first, awaitsStart);
    });
  }

  /** Goes by what another process has learnt of the same server. */
  adopt({ circuit, pausedUntil }: Learnt): void {
    const { state } = this.#conductor;
    if (state.stopped) return;
    const learnt = circuit === 'closed' ? ({ closed: true } as const) : undefined;
    const times = this.#inMs(circuit === 'closed' ? undefined : circuit, pausedUntil);
    this.#conductor.befell({ input: 'adopted', ...learnt, ...times });
    this.#step(() => {
      const integration = this.name;
      const now = this.#conductor.now();
      if (circuit !== undefined && state.circuit.adopt(circuit)) {
        const open = circuit === 'closed' ? undefined : circuit;
        const { message: why, rule } = open?.cause ?? {};
        const how = open && { forMs: Math.max(0, open.openUntil - now), rule, cause: why };
        state.queue.tell({
          type: 'breaker.adopted',
          integration,
          state: open === undefined ? 'closed' : 'open',
          ...how,
        });
      }
      if (pausedUntil !== undefined && state.circuit.pause(pausedUntil - now))
        state.queue.tell({ type: 'breaker.adopted', integration, state: 'paused', forMs: pausedUntil - now });
    });
  }

  /** True while a call has not ended. */
  get busy(): boolean {
    const { inFlight, waiting, fallingBack, openEffects } = this.#conductor.state;
    return inFlight.size + waiting.size + fallingBack.size + openEffects.asked > 0;
  }

  /** Refuses new calls from now on; those that are under way may end by themselves. */
  drain(order: DrainOrder): void {
    const { state, steps } = this.#conductor;
    if (state.stopped) return;
    state.draining.order = order;
    this.#step(() => {
      // Calls whose next attempt would come after the end learn now what they would learn then.
      for (const call of state.waiting.list()) {
        const { lastFailure, rate, waitUntil } = call.progress;
        const isTimed = call.waiting === 'backoff' || call.waiting === 'pause' || call.waiting === 'rate';
        const dueAt = call.waiting === 'rate' ? this.#conductor.now() + (rate?.heldBack?.waitMs ?? 0) : waitUntil;
        if (!isTimed || dueAt < order.until) continue;
        if (lastFailure === undefined) steps.settlement.refuse(call, refusal.stopping(this.name));
        else steps.settlement.fail(call, refusal.notTriedAgain(lastFailure));
      }
    });
  }

  /** Ends every call and every wait. Nothing is left in the queue of deadlines afterwards. */
  stop(): void {
    const { state, steps } = this.#conductor;
    if (!state.stopped) this.#conductor.befell({ input: 'stopped' });
    state.stopped = true;
    this.#step(() => {
      state.abandoned.clear();
      const facts = refusal.stopped(this.name);
      for (const call of [...state.inFlight.list(), ...state.fallingBack, ...state.waiting.list()])
        steps.end(call, facts);
      steps.reconciling.stop();
      this.link.retire();
    });
    state.options.onStop?.();
  }

  #inMs(open: OpenCircuit | undefined, pausedUntil: number | undefined) {
    const now = this.#conductor.now();
    return {
      ...(open !== undefined && { openForMs: open.openUntil - now, openings: open.openings }),
      ...(pausedUntil !== undefined && { pausedForMs: pausedUntil - now }),
    };
  }

  /** A process behind it has ended, with all that it started: what it had not done it will not do. */
  incarnationEnded(): void {
    const { state, steps } = this.#conductor;
    if (state.stopped || state.openEffects.size === 0) return;
    const { incarnation } = state.options;
    const ofIt = state.openEffects.list().filter(({ call }) => incarnation?.isGone(call.progress.incarnation) === true);
    this.#step(() => steps.reconciling.askNow(ofIt));
  }

  #enterScope(call: Call<I, O>, scope: string, now: number): void {
    const { state, steps } = this.#conductor;
    const holder = state.scopes.holder(scope);
    if (holder !== undefined && call.settings.replace !== true) {
      steps.settlement.refuse(call, refusal.scopeBusy(this.name, scope, undefined));
      return;
    }
    state.scopes.take(scope, call);
    if (holder === undefined) {
      steps.admission.proceed(call, now);
      return;
    }
    steps.end(holder, refusal.replaced(scope, holder.attempt !== undefined));
    // Listeners of the abort may have taken any time.
    state.queue.step(() => steps.admission.proceed(call), undefined);
  }

  /** The server was taken back into service: it is suspect no longer, and no scope waits for work of before. */
  readonly #forgive = (): void => {
    const { state, steps } = this.#conductor;
    this.#conductor.endSuspicion();
    state.queue.step(() => {
      for (const call of state.scopes.forgive()) steps.admission.resume(call, 'scope');
    }, undefined);
  };

  #step<T>(run: () => T): T {
    const { queue } = this.#conductor.state;
    queue.enter();
    try {
      return run();
    } finally {
      queue.leave();
    }
  }
}
