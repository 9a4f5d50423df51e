import type { Comeback } from './outage.ts';
import type { IntegrationRef } from '../machines/integration.ts';
import type { IntegrationEvent } from '../machines/integrationEvents.ts';
import type { BreakerCause } from '../policy/records/breakerCause.ts';
import type { Failure, FailureFacts } from '../policy/failures/failure.ts';
import type { Flight } from '../policy/records/flight.ts';
import { notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { type Call, toolName } from './call.ts';
import { callFailure, knownAtEnd, mayHaveBegun } from './callFailure.ts';
import type { Beginning, CallPathOptions, CallStats, Learnt, OpenCircuit } from './callPathOptions.ts';
import { type CallWhy, type KeptWhy, whyOf } from './callWhy.ts';
import { PlainCalls } from './plainCall.ts';
import type { Drainable, DrainOrder } from './draining.ts';
import type { MachineLink } from './circuit/machineLink.ts';
import { probeNow } from './circuit/probeNow.ts';
import type { RateWait } from './rates/rateBucket.ts';
import * as refusal from './refusal.ts';
import { recordedFailure } from './settingsBrief.ts';
import type { OpenToolCircuit, ToolCircuitState } from './circuit/toolCircuits.ts';

/**
 * The way of every call to an integration: admission, attempts and waits in turn, and one settlement. A call is a row here, not an actor; the
 * machine is told what could change its state and decides it.
 *
 * Each method is one step: it changes the state completely, and then tells others, in the same turn. Anybody who hears of something may call
 * back into the path, end calls or stop it.
 */
export class CallPath<I, O> extends PlainCalls<I, O> implements Drainable {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly link: MachineLink;
  #lastHold = 0;

  constructor(options: CallPathOptions<I, O>) {
    super(options);
    this.name = options.name;
    this.policy = options.policy;
    this.link = this.state.circuit.link;
  }

  get stats(): CallStats {
    const { inFlight, waiting, records, permits, budget } = this.state;
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
    return this.state.suspicion.raised;
  }

  /** Comeback of its server, which is gone; undefined while it is there. */
  get comeback(): Comeback | undefined {
    const { outage, options } = this.state;
    if (outage.last === undefined) return undefined;
    const inMs = options.restartInMs?.();
    return {
      ...(inMs !== undefined && { inMs: Math.max(0, Math.round(inMs)) }),
      ...(outage.last.reason === 'restarted' && { ordered: true }),
    };
  }

  /** Pending calls that were told of: half of a limit that ends them has passed. */
  get pendingLong(): number {
    const { inFlight, waiting } = this.state;
    return [...inFlight.list(), ...waiting.list()].filter(({ progress }) => progress.isPendingTold).length;
  }

  /**
   * Takes all that its recorder holds and that was not taken before, and the calls under way.
   * @param wallOffset - what makes wall time of monotonic time, in whole ms.
   */
  takeFlight(wallOffset: number): Flight | undefined {
    const { inFlight, waiting, fallingBack, options } = this.state;
    const { clock, recorder } = options;
    const calls = [...inFlight.list(), ...waiting.list(), ...fallingBack].filter(
      ({ settings }) => settings.isPart !== true,
    );
    const pending = calls.map((call) => ({ call, tool: toolName(options, call.input) }));
    return recorder?.take(pending, clock.now(), wallOffset);
  }

  /** The rate limit that the call waits for which has waited longest; undefined where none waits for one. */
  get rateWait(): RateWait | undefined {
    return this.state.options.rate === undefined ? undefined : this.state.waiting.list('rate')[0]?.rate?.heldBack;
  }

  /**
   * Ends a call that has not ended yet, for the reason given.
   * @returns the failure that it ends with, of which its caller may hear only once this step of the path is over; undefined where it had ended.
   */
  end(call: Call<I, O>, facts: FailureFacts): Failure | undefined {
    const known = this.state.kept.judge(call, knownAtEnd(call, facts));
    const failure = call.settled || call.ending !== undefined ? undefined : callFailure(call, known, this.name);
    this.state.queue.change(() => this.steps.end(call, facts));
    return failure;
  }

  /** What was asked for by calls that have ended, and whose work goes on as it is kept. */
  get keptInputs(): readonly I[] {
    return this.state.kept.list().map(({ call }) => call.input);
  }

  /** Late answers that nobody has been given, and when the last is kept no longer, as wall time in ms since the epoch; undefined where there are none. */
  get keptAnswers(): { readonly pending: number; readonly finished: number; readonly until: number } | undefined {
    const { kept, openEffects, options } = this.state;
    const now = this.now();
    const pending = kept.list().map(({ givenUp }) => givenUp?.due ?? now);
    const finished = openEffects.answersUntil(now);
    if (pending.length + finished.length === 0) return undefined;
    const until = Math.round(options.clock.wallNow() + Math.max(...pending, ...finished) - now);
    return { pending: pending.length, finished: finished.length, until };
  }

  /** Tells what goes on of a session's calls, as it is kept. */
  keptWhy(session: string): readonly KeptWhy[] {
    return this.state.kept.why(session).map((each) => ({ integration: this.name, ...each }));
  }

  /** Says what a call waits for; undefined once it is settled. */
  why(call: Call<I, O>): CallWhy | undefined {
    const { attempt } = call;
    return whyOf(
      call,
      this.state.options.clock,
      attempt !== undefined && this.steps.lifecycle.goesOnWhenSilent(attempt),
    );
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
      this.befell({ input: 'fired', call: call.number, rule: next.rule });
      announce();
    };
    return this.state.queue.change(() => this.act(call, next, act, note));
  }

  /** Has no further attempt follow. @param announce - told before, where one could have. */
  stopRetrying(call: Call<I, O>, announce: () => void): OrderResult {
    const act = (): void => {
      this.befell({ input: 'retriesStopped', call: call.number });
      announce();
    };
    return this.state.queue.change(() => this.endRetries(call, act));
  }

  /** Has an open circuit, or a server that asked not to be called, probed now. */
  probe(note: OrderNote = {}): OrderResult {
    const result = this.state.queue.change(() => probeNow(this.state, this.steps, note));
    if (result.ok) this.befell({ input: 'probed' });
    return result;
  }

  /** Ends the call that holds a scope. @returns false when none does. */
  endScope(scope: string, reason: unknown): boolean {
    const holder = this.state.scopes.holder(scope);
    if (holder !== undefined) this.end(holder, refusal.cancelled(reason, mayHaveBegun(holder)));
    return holder !== undefined;
  }

  /**
   * The server of the integration is gone: its attempts end, and what may be tried again waits for the restart.
   * @param quietly - it ended as it was to: nothing is told, and its coming back neither.
   */
  crashed(facts: FailureFacts, quietly = false): void {
    if (this.state.stopped) return;
    this.befell({ input: 'crashed', failure: recordedFailure(facts), quietly });
    this.state.queue.change(() => {
      // A restart takes it back into service from here on, not the end of work that was abandoned.
      this.state.outage.overwhelmed = false;
      this.lose(facts, quietly);
      this.endSuspicion();
    });
  }

  /** The server of the integration is there again, and nothing of what was going on before. */
  restarted(): void {
    if (this.state.stopped) return;
    this.befell({ input: 'restarted' });
    this.state.queue.change(() => {
      this.state.permits.forgive();
      this.state.tools.restarted();
      this.steps.endOutage();
      this.state.queue.step(this.#forgive, undefined);
    });
  }

  /** Closes the circuit, forgets what was counted, and takes a crashed function back into service. */
  reset(): void {
    if (this.state.stopped) return;
    this.befell({ input: 'reset' });
    this.#reset();
  }

  #reset(): void {
    this.state.queue.change(() => {
      this.state.permits.forgive();
      this.link.reset();
      this.state.tools.resetAll();
      this.state.queue.step(() => {
        if (this.state.outage.overwhelmed) this.steps.endOutage();
        this.resume('pause');
        this.state.queue.step(this.#forgive, undefined);
      }, undefined);
    });
  }

  /** Why the circuit is open; undefined while it is not, and where nobody knows. */
  get openedBy(): BreakerCause | undefined {
    return this.state.circuit.failures.cause;
  }

  /** The circuit of a tool, as of now. */
  toolCircuit(tool: string): ToolCircuitState {
    return this.state.tools.stateOf(tool);
  }

  /** The circuits of its tools that are not closed. */
  get openTools(): readonly OpenToolCircuit[] {
    return this.state.tools.open;
  }

  /** Forces the circuit of a tool open until the returned function is called (once). */
  isolateTool(tool: string): () => void {
    return this.state.stopped ? () => undefined : this.#held(() => this.state.tools.isolate(tool), tool);
  }

  /** Forces the circuit open until the returned function is called (once). */
  isolate(): () => void {
    return this.#held(() => this.link.isolate(), undefined);
  }

  #held(isolate: () => () => void, tool: string | undefined): () => void {
    const of = { hold: ++this.#lastHold, ...(tool !== undefined && { tool }) };
    this.befell({ input: 'isolated', ...of });
    const release = isolate();
    return () => {
      this.befell({ input: 'released', ...of });
      release();
    };
  }

  /** Closes the circuit of a tool. */
  resetTool(tool: string): void {
    if (this.state.stopped) return;
    this.befell({ input: 'toolReset', tool });
    this.state.tools.reset(tool);
  }

  /**
   * Does an operator's restart of an integration without a process of its own: calls in flight end with reason `restarted`, their work is aborted, and the
   * rest is as after {@link reset}. Calls that wait go on.
   */
  restart(): void {
    if (this.state.stopped) return;
    const calls = this.state.inFlight.list();
    this.befell({ input: 'restart' });
    this.state.queue.change(() => {
      // The reset comes first: the failures of the calls that end then belong to an old generation and count for nothing, and calls that
      // wait for a probe are not refused when that probe ends.
      this.#reset();
      for (const attempt of this.state.kept.list()) this.steps.reconciling.kept.over(attempt);
      this.state.queue.each(calls, (call) => this.steps.end(call, refusal.restarted(this.name)));
    });
  }

  /** Takes the machine of a new incarnation; attempts of the one before end. */
  attach(ref: IntegrationRef, { open, pausedUntil, down = false }: Beginning = {}): void {
    if (this.state.stopped) return;
    this.befell({ input: 'attached', down, ...this.#inMs(open, pausedUntil) });
    this.state.queue.change(() => {
      const { outage, inFlight, circuit } = this.state;
      outage.overwhelmed = false;
      // Before its attempts are ended: that our own machine is gone says nothing about the server.
      this.link.detach();
      for (const call of inFlight.list()) this.steps.end(call, refusal.machineLost(this.name));
      const first: IntegrationEvent[] = [];
      if (open !== undefined) {
        const { cause, ...restored } = open;
        circuit.failures.cause ??= cause;
        first.push({ type: 'breaker.restore', ...restored, rule: cause?.rule });
      }
      if (pausedUntil !== undefined) first.push({ type: 'integration.paused', until: pausedUntil });
      if (down) outage.startsDown(this.now(), !this.link.started);
      // A first start is no restart; only a circuit that an earlier run left open is closed by it.
      const awaitsStart = down && open === undefined && !this.link.started;
      if (down && !awaitsStart) first.push({ type: 'integration.lost' });
      this.link.attach(ref, first, awaitsStart);
    });
  }

  /** Goes by what another process has learnt of the same server. */
  adopt({ circuit, pausedUntil }: Learnt): void {
    if (this.state.stopped) return;
    const learnt = circuit === 'closed' ? ({ closed: true } as const) : undefined;
    const times = this.#inMs(circuit === 'closed' ? undefined : circuit, pausedUntil);
    this.befell({ input: 'adopted', ...learnt, ...times });
    this.state.queue.change(() => {
      const integration = this.name;
      const now = this.now();
      if (circuit !== undefined && this.state.circuit.adopt(circuit)) {
        const open = circuit === 'closed' ? undefined : circuit;
        const { message: why, rule } = open?.cause ?? {};
        const how = open && { forMs: Math.max(0, open.openUntil - now), rule, cause: why };
        this.state.queue.tell({
          type: 'breaker.adopted',
          integration,
          state: open === undefined ? 'closed' : 'open',
          ...how,
        });
      }
      if (pausedUntil !== undefined && this.state.circuit.pause(pausedUntil - now))
        this.state.queue.tell({ type: 'breaker.adopted', integration, state: 'paused', forMs: pausedUntil - now });
    });
  }

  /** True while a call has not ended, or goes on as it is kept. */
  get busy(): boolean {
    const { inFlight, waiting, fallingBack, openEffects, kept } = this.state;
    return inFlight.size + waiting.size + fallingBack.size + openEffects.asked + kept.size > 0;
  }

  /** Refuses new calls from now on; those that are under way may end by themselves. */
  drain(order: DrainOrder): void {
    if (this.state.stopped) return;
    this.state.draining.order = order;
    this.state.queue.change(() => {
      // Calls whose next attempt would come after the end learn now what they would learn then.
      for (const call of this.state.waiting.list()) {
        const { lastFailure, rate, waitUntil } = call.progress;
        const isTimed = call.waiting === 'backoff' || call.waiting === 'pause' || call.waiting === 'rate';
        const dueAt = call.waiting === 'rate' ? this.now() + (rate?.heldBack?.waitMs ?? 0) : waitUntil;
        if (!isTimed || dueAt < order.until) continue;
        if (lastFailure === undefined) this.steps.settlement.refuse(call, refusal.stopping(this.name));
        else this.steps.settlement.fail(call, refusal.notTriedAgain(lastFailure));
      }
    });
  }

  /** Tells whether a call of a session is kept, or asked about. */
  readonly keeps = (session: string): boolean => this.state.openEffects.of(session).length > 0;

  /** A session is erased, whose calls have ended: what is kept of them goes. */
  forget(session: string): void {
    const { queue, circuit, tools } = this.state;
    queue.change(() => {
      this.steps.reconciling.forget(session);
      circuit.failures.forget(session);
      tools.forgetSession(session);
    });
  }

  /** Ends every call and every wait. Nothing is left in the queue of deadlines afterwards. */
  stop(): void {
    if (!this.state.stopped) this.befell({ input: 'stopped' });
    this.state.stopped = true;
    this.state.queue.change(() => {
      this.state.abandoned.clear();
      for (const attempt of this.state.kept.list()) this.steps.lifecycle.endKept(attempt);
      const facts = refusal.stopped(this.name);
      for (const call of [...this.state.inFlight.list(), ...this.state.fallingBack, ...this.state.waiting.list()])
        this.steps.end(call, facts);
      this.steps.reconciling.stop();
      this.link.retire();
    });
    this.state.options.onStop?.();
  }

  #inMs(open: OpenCircuit | undefined, pausedUntil: number | undefined) {
    const now = this.now();
    return {
      ...(open !== undefined && { openForMs: open.openUntil - now, openings: open.openings }),
      ...(pausedUntil !== undefined && { pausedForMs: pausedUntil - now }),
    };
  }

  /** A process behind it has ended, with all that it started: what it had not done it will not do. */
  incarnationEnded(): void {
    if (this.state.stopped || this.state.openEffects.size === 0) return;
    const ofIt = this.state.openEffects
      .list()
      .filter(({ call }) => this.state.options.incarnation?.isGone(call.progress.incarnation) === true);
    this.state.queue.change(() => this.steps.reconciling.askNow(ofIt));
  }

  /** The server was taken back into service: it is suspect no longer, and no scope waits for work of before. */
  readonly #forgive = (): void => {
    this.endSuspicion();
    this.state.queue.step(() => {
      for (const call of this.state.scopes.forgive()) this.steps.admission.resume(call, 'scope');
    }, undefined);
  };
}
