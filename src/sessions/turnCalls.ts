import { type CallStep, stepsOf } from '../calls/callProgress.ts';
import type { Deadline } from '../calls/deadlineQueue.ts';
import { cancelled } from '../calls/refusal.ts';
import type { Spending, Standing } from '../policy/budget.ts';
import { budgetWaitText } from '../policy/text/budgetText.ts';
import type { Effect } from '../policy/effects.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { formatDuration } from '../policy/text/duration.ts';
import { done, firedBy, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { SessionScope, TurnScope } from './sessionScope.ts';
import { reconcileLog } from './openCalls.ts';
import type { CallRule, Kept } from './sessionStore.ts';
import type { CheckedToolCall } from './toolRequest.ts';
import { EarlierAnswers } from './earlierAnswers.ts';
import type { PendingCall, ToolCallSettings, ToolStreaming } from './toolPort.ts';
import type { JudgedCall, SessionSpinning } from './sessionSpinning.ts';
import { errorResult, noted, type ToolResult, withoutSecrets } from './toolResult.ts';
import { lateGiven } from './lostCall.ts';
import { sessionFailure, turnEnds } from './turnEnds.ts';
import { callRule, type EndedCallWhy, type WatchedCall, watchdogRule } from './why.ts';
import { messageOf } from '../policy/failures/thrown.ts';

/** A call without its result; its limit, the watchdog's, is never reset, whatever moves. */
interface OpenCall extends Deadline {
  /** Budget that it waits for: nothing of it is written before. */
  spent: Standing | undefined;
  readonly id: string;
  readonly tool: string;
  readonly integration: string;
  readonly startedAt: number;
  expire: Deadline['expire'];
  /** Until then nothing of it can have taken effect. */
  dispatched: boolean;
  pending: PendingCall | undefined;
  /** It was ended by who heard of its first attempt, before that could be done to what is pending. */
  endedBy: FailureFacts | undefined;
  /** Rule that settles its answer at the next start, should this one stop before. */
  rule: CallRule | undefined;
  /** The operator who has its watchdog act now. */
  firedBy: OrderNote | undefined;
  readonly resolve: ToolAnswered;
  judged: JudgedCall | undefined;
  /** It joins an equal call that is or was kept, as far as that is known. */
  joins: boolean;
}

/** Leaves what a stop ends before it is known what became of it to the next start, whose rule finds that out. */
function isLeft({ rule, dispatched }: OpenCall, failure: Failure | undefined): boolean {
  const isOpen = failure?.outcome === 'unknown' || failure?.outcome === 'cancelled';
  return rule !== undefined && dispatched && isOpen && failure.reason === 'stopped';
}

interface EndedCall extends Omit<EndedCallWhy, 'sinceMs' | 'endedAgoMs' | 'trail'> {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly steps: readonly CallStep[];
}

/** Time in ms after which a call asks again for its budget: others may have raised it. */
const askAgainMs = 1000;

/** Calls that have their result and are told of, of one turn. */
const mostEnded = 50;

const hasEnded = 'The call has ended.';
const notDispatched = 'The call is still being written to the store: try again.';

/** Tells whether a second call of this effect may do what one did not. */
const mayDoMore = (effect: Effect | undefined): boolean => effect !== 'readOnly' && effect !== 'idempotent';

/** Told the one result of a call, and the failure it stands for. */
export type ToolAnswered = (result: ToolResult, failure: Failure | undefined) => void;

/** Gives what judges the repetition of calls; undefined: nothing does. */
export type Repetition = () => SessionSpinning | undefined;

/** The tool calls of one turn: each is in the history and the ledger before it is dispatched, and is answered once. */
export class TurnCalls {
  readonly #turn: TurnScope;
  readonly #scope: SessionScope;
  readonly #repetition: Repetition;
  readonly #open = new Map<string, OpenCall>();
  readonly #ended: EndedCall[] = [];
  /** Earlier answers to a message that is delivered again. */
  #earlier: EarlierAnswers | undefined = undefined;
  #lastCall = 0;
  #over = false;

  constructor(turn: TurnScope, repetition: Repetition) {
    this.#turn = turn;
    this.#repetition = repetition;
    this.#scope = turn.session;
  }

  /** Reads the answers to earlier deliveries of its message, before this one begins: the history may hold them no more. */
  async recall(): Promise<void> {
    const kept = (await this.#turn.ledger?.madeOnce(this.#turn.first.number)) ?? [];
    this.#earlier = new EarlierAnswers(kept, this.#scope.history.entries, this.#turn);
  }

  /** The calls that are pending, and when the watchdog ends each. */
  pending(): readonly WatchedCall[] {
    const { clock, tools } = this.#scope;
    const now = clock.now();
    return [...this.#open.values()].map(({ id, integration, tool, startedAt, due, pending, spent }) => ({
      call: {
        call: id,
        integration,
        tool,
        sinceMs: now - startedAt,
        progress: pending?.why(),
        target: tools.why(integration),
        ...(spent !== undefined && { waitsFor: budgetWaitText(spent) }),
      },
      watchdogInMs: spent === undefined ? due - now : undefined,
    }));
  }

  /** The calls that have their result, as of now. */
  ended(): readonly EndedCallWhy[] {
    const now = this.#scope.clock.now();
    return this.#ended.map(({ startedAt, endedAt, steps, ...call }) => ({
      ...call,
      ...{ sinceMs: now - startedAt, endedAgoMs: now - endedAt, trail: stepsOf(steps, now) },
    }));
  }

  /** Has a rule of a pending call act now. @param announce - told before it does. @param note - who wants it, and why. */
  fire(id: string, rule: string, announce: () => void, note: OrderNote): OrderResult {
    const call = this.#open.get(id);
    if (call === undefined) return notDone(hasEnded);
    if (rule !== watchdogRule(id)) {
      return call.pending?.fire(rule.slice(callRule(id, '').length), announce, note) ?? notDone(notDispatched);
    }
    announce();
    // A listener may have ended it.
    if (!this.#open.has(id)) return notDone(hasEnded);
    call.firedBy = note;
    call.expire(this.#scope.clock.now());
    return done;
  }

  /** Has no further attempt of a pending call follow. @param announce - told before that is so. */
  stopRetrying(id: string, announce: () => void): OrderResult {
    const call = this.#open.get(id);
    if (call === undefined) return notDone(hasEnded);
    return call.pending?.stopRetrying(announce) ?? notDone(notDispatched);
  }

  /** Ends a pending call for an operator. */
  cancel(id: string): OrderResult {
    const call = this.#open.get(id);
    if (call === undefined) return notDone(hasEnded);
    this.#end(call, turnEnds.cancelled);
    return done;
  }

  /** Ends every pending call and refuses new ones. */
  end(facts: FailureFacts): void {
    this.#over = true;
    for (const call of [...this.#open.values()]) this.#end(call, facts);
  }

  /**
   * Starts a call; `resolve` gets its one result, maybe before this returns.
   * @returns what ends it, unless it has ended.
   */
  start(
    integration: string,
    tool: string,
    input: unknown,
    options: CheckedToolCall,
    resolve: ToolAnswered,
    stream?: ToolStreaming,
  ): (facts: FailureFacts) => void {
    const { id: session, clock } = this.#scope;
    const { number: turn, watch } = this.#turn;
    const id = `${session}-${turn}-${++this.#lastCall}`;
    const startedAt = clock.now();
    if (this.#over) {
      const failure = sessionFailure(session, { ...turnEnds.ended, outcome: 'not_started' }, integration);
      resolve(errorResult(failure, 0), failure);
      return () => undefined;
    }
    const call: OpenCall = {
      id,
      tool,
      integration,
      startedAt,
      due: Number.POSITIVE_INFINITY,
      heapIndex: -1,
      expire: () => undefined,
      spent: undefined,
      resolve,
      dispatched: false,
      pending: undefined,
      endedBy: undefined,
      rule: undefined,
      firedBy: undefined,
      judged: undefined,
      joins: false,
    };
    const rounds = this.#open.size === 0 ? 1 : 0;
    this.#open.set(id, call);
    watch.pendingCalls++;
    watch.progressed(startedAt);
    const begin = (): void => this.#begin(call, input, options, stream);
    this.#await(call, { toolCalls: 1, rounds }, begin, options.signal);
    return (facts) => {
      if (this.#open.has(id)) this.#end(call, facts);
    };
  }

  /** Has a call begin once it has its budget, for which it asks again until then. Nothing of it is written before. */
  #await(call: OpenCall, costs: Spending, begin: () => void, signal: AbortSignal | undefined): void {
    const { clock, deadlines, budget } = this.#scope;
    call.spent = budget?.take(costs, this.#turn.number);
    if (call.spent === undefined) begin();
    else if (signal?.aborted === true) this.#end(call, cancelled(signal.reason, false));
    else {
      call.due = clock.now() + askAgainMs;
      call.expire = () => this.#await(call, costs, begin, signal);
      deadlines.set(call);
    }
  }

  /** Writes a call down, then makes it. */
  #begin(call: OpenCall, input: unknown, options: CheckedToolCall, stream: ToolStreaming | undefined): void {
    const { id: session, clock, deadlines, history, tools, watchdog } = this.#scope;
    const { ledger, number: turn, message, first, watch } = this.#turn;
    const { id, integration, tool } = call;
    const now = clock.now();
    const at = clock.wallNow();
    const effect = options.effect ?? tools.effect(integration, tool, input);
    const entry = { type: 'tool_call', turn, call: id, integration, tool, input, at } as const;
    // The end of a stream does not hold what it said: its successes are not known to be alike.
    // A call that joins one that goes on repeats nothing.
    call.joins = stream === undefined && options.fresh !== true && tools.joins(integration, tool, input, session);
    call.judged = call.joins
      ? undefined
      : this.#repetition()?.begin(entry, message, stream === undefined ? effect : undefined);
    const seq = history.addCall(entry);
    const declaredMs = options.longRunningMs ?? tools.longRunningMs(integration, tool);
    const limitMs = declaredMs ?? watchdog.toolCallMs;
    call.due = now + limitMs;
    call.expire = () => this.#watchdogFired(call, limitMs);
    watch.progressed(now);
    deadlines.set(call);
    const settledBy =
      stream === undefined && ledger !== undefined ? tools.ruleOf(integration, tool, input, session) : undefined;
    const settings: ToolCallSettings = {
      session,
      call: id,
      effect: options.effect,
      signal: options.signal,
      scope: options.scope,
      replace: options.replace,
      // A hair longer than the watchdog's limit: when both have come, it is the watchdog that names the reason.
      overallMs: limitMs + 1,
      longRunning: declaredMs !== undefined,
      late: (value) => this.#late(call, { status: 'ok', value, retries: 0 }),
      keep: {
        fresh: options.fresh,
        given: () => void ledger?.reconciled(id, lateGiven, clock.wallNow()),
        failed: ({ message }) =>
          this.#late(call, { status: 'error', error: this.#scope.clean(message), retries: 0, recoverable: false }),
      },
      spent: (costs) => this.#scope.budget?.spend(costs, turn),
      stream,
      idempotencyKey: settledBy?.idempotencyKey,
      reconcileLog: settledBy && ledger && reconcileLog(ledger, id, clock),
    };
    if (ledger === undefined) {
      if (!this.#refused(call)) this.#dispatch(call, input, settings);
      return;
    }
    call.rule = settledBy?.rule;
    const isOnce = settledBy !== undefined || (options.once === true && mayDoMore(effect));
    const earlier = isOnce ? this.#earlier?.take(integration, tool, input, call.joins) : undefined;
    const written = ledger.open({
      call: id,
      turn,
      integration,
      tool,
      input,
      effect,
      seq,
      at,
      deadlineAt: at + limitMs,
      rule: settledBy?.rule,
      idempotencyKey: settledBy?.idempotencyKey,
      message: isOnce ? first.number : undefined,
    });
    // In one commit with its answer: a kill between the two would leave a call of which it were asked what became of it, though it was never made.
    if (earlier !== undefined) this.#answer(call, earlier);
    else if (!this.#refused(call)) void written.then((kept) => this.#written(call, kept, input, settings));
  }

  /** Answers a call that is not made, as it repeats without progress. */
  #refused(call: OpenCall): boolean {
    const facts = call.judged && this.#repetition()?.refusal(call.judged);
    if (facts !== undefined) this.#finish(call, sessionFailure(this.#scope.id, facts, call.integration));
    return facts !== undefined;
  }

  /** The call is in the ledger, or cannot be: only now may it have effects. */
  #written(call: OpenCall, kept: Kept, input: unknown, settings: ToolCallSettings): void {
    // The watchdog or the end of the turn may have been faster than the commit.
    if (!this.#open.has(call.id)) return;
    if (kept === 'fenced') this.#end(call, turnEnds.takenOver);
    else this.#dispatch(call, input, settings);
  }

  #dispatch(call: OpenCall, input: unknown, settings: ToolCallSettings): void {
    const { integration, tool } = call;
    call.dispatched = true;
    try {
      call.pending = this.#scope.tools.call(integration, tool, input, settings, (outcome, attempts) =>
        this.#settled(call, outcome, attempts),
      );
      if (call.endedBy !== undefined) call.pending.end(call.endedBy);
    } catch (error) {
      const message = messageOf(error);
      const facts = { kind: 'permanent', reason: 'not_found', message, outcome: 'not_started' } as const;
      this.#finish(call, sessionFailure(this.#scope.id, facts, integration));
    }
  }

  #settled(call: OpenCall, outcome: Outcome<unknown>, attempts: number): void {
    if (!this.#open.has(call.id)) return;
    if (!outcome.ok) this.#finish(call, outcome.failure);
    else {
      const { value, reconciled } = outcome;
      const retries = Math.max(0, attempts - 1);
      const result = { status: 'ok', value, retries, ...(reconciled !== undefined && { reconciled }) } as const;
      const isJoined = call.joins && attempts === 0;
      this.#answer(call, isJoined ? noted({ ...result, joined: true }, `(Not done again: ${reconciled}.)`) : result);
    }
  }

  /** Never given to this call, which has its answer; kept beside it for people, and for an equal call. */
  #late({ id, tool }: OpenCall, result: ToolResult): void {
    // It is of an earlier attempt: the call is still being tried, and has no answer it could be late for.
    if (this.#open.has(id)) return;
    const { clock, facts } = this.#scope;
    facts.tell({ type: 'session.late_result', session: this.#scope.id, turn: this.#turn.number, call: id, tool });
    void this.#turn.ledger?.settle(id, result, 0, clock.wallNow());
  }

  #watchdogFired(call: OpenCall, limitMs: number): void {
    if (!this.#open.has(call.id)) return;
    const { tool, firedBy: firedFor } = call;
    const { id: session, facts } = this.#scope;
    const turn = this.#turn.number;
    facts.tell({ type: 'session.watchdog_fired', session, turn, rule: 'tool_call', limitMs, tool });
    this.#end(call, {
      kind: 'watchdog',
      ...(firedFor === undefined
        ? { message: `${tool} did not answer within ${formatDuration(limitMs)}` }
        : {
            reason: 'by_operator',
            message: `The watchdog of ${tool}, with a limit of ${formatDuration(limitMs)}, was ${firedBy(firedFor)}`,
          }),
      outcome: 'unknown',
    });
  }

  /** Ends a call for a reason of the session's. The agent's answer does not depend on what the call path makes of it. */
  #end(call: OpenCall, facts: FailureFacts): void {
    const known: FailureFacts = call.dispatched ? facts : { ...facts, outcome: 'not_started' };
    call.endedBy = known;
    const failure = call.pending?.end(known);
    this.#finish(call, failure ?? sessionFailure(this.#scope.id, known, call.integration));
  }

  #finish(call: OpenCall, told: Failure): void {
    if (!this.#open.has(call.id)) return;
    const { id: session, clean, clock, facts } = this.#scope;
    const failure = withoutSecrets(told, clean);
    const made = errorResult(failure, clock.now() - call.startedAt);
    const result: typeof made = call.joins && failure.attempts === 0 ? { ...made, joined: true } : made;
    this.#answer(call, result, failure);
    const { id, integration, tool } = call;
    const { kind, reason, outcome, effect, message } = failure;
    const turn = this.#turn.number;
    const about = { session, turn, call: id, tool, integration, kind, reason, outcome, effect, message };
    const synthetic = 'synthetic' in result;
    facts.tell({ type: 'session.tool_failed', ...about, retries: result.retries, synthetic });
  }

  #answer(call: OpenCall, given: ToolResult, failure?: Failure): void {
    const { clock, deadlines, history } = this.#scope;
    const { ledger, watch } = this.#turn;
    this.#open.delete(call.id);
    deadlines.remove(call);
    watch.pendingCalls--;
    const now = clock.now();
    watch.progressed(now);
    const result = (call.judged && this.#repetition()?.answered(call.judged, given, failure)) ?? given;
    this.#keep(call, result, failure, now);
    const at = clock.wallNow();
    if (call.spent !== undefined) {
      call.resolve(result, failure);
      return;
    }
    const seq = history.addResult({ type: 'tool_result', turn: this.#turn.number, call: call.id, result, at });
    // In the queue before whatever the agent does next, and so committed before it.
    const written = seq !== undefined && !isLeft(call, failure) ? ledger?.settle(call.id, result, seq, at) : undefined;
    // That it is kept is told once it is on disk: a later gateway does not make the call again. What a kept one came to as well: nobody else is given it.
    if (written !== undefined && ('joined' in result || failure?.kept !== undefined))
      void written.then((kept) => {
        const over = sessionFailure(this.#scope.id, turnEnds.takenOver, call.integration);
        if (kept === 'fenced') call.resolve(errorResult(over, now - call.startedAt), over);
        else call.resolve(result, failure);
      });
    else call.resolve(result, failure);
  }

  #keep(
    { id, integration, tool, startedAt, pending }: OpenCall,
    result: ToolResult,
    failure: Failure | undefined,
    endedAt: number,
  ): void {
    const ok = result.status === 'ok';
    const attempts = failure?.attempts ?? result.retries + 1;
    const ended = { call: id, integration, tool, startedAt, endedAt, ok, attempts, steps: pending?.steps() ?? [] };
    const failed = failure && { failure: { kind: failure.kind, message: failure.message } };
    const synthetic = 'synthetic' in result && ({ synthetic: true } as const);
    this.#ended.push(ok ? ended : { ...ended, ...synthetic, ...failed });
    if (this.#ended.length > mostEnded) this.#ended.shift();
  }
}
