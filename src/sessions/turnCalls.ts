import { type CallStep, stepsOf } from '../calls/callTrail.ts';
import type { Effect } from '../policy/effects.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import { formatDuration } from '../policy/duration.ts';
import { done, firedBy, notDone, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import { callRule, watchdogRule } from './ruleIds.ts';
import type { SessionScope, TurnScope } from './sessionScope.ts';
import { reconcileLog } from './reconcileLog.ts';
import type { CallRule, Kept } from './sessionStore.ts';
import type { CheckedToolCall } from './toolCallOptions.ts';
import { EarlierAnswers } from './earlierAnswers.ts';
import type { PendingCall, ToolCallSettings, ToolStreaming } from './toolPort.ts';
import { errorResult, type ToolResult, withoutSecrets } from './toolResult.ts';
import { turnEnds } from './turnEnds.ts';
import { CallWatch } from './watch.ts';
import type { EndedCallWhy, WatchedCall } from './why.ts';
import { messageOf } from '../policy/thrown.ts';

interface OpenCall {
  readonly id: string;
  readonly tool: string;
  readonly integration: string;
  readonly startedAt: number;
  /** Until then nothing of it can have taken effect. */
  dispatched: boolean;
  pending: PendingCall | undefined;
  /** It was ended by who heard of its first attempt, before that could be done to what is pending. */
  endedBy: FailureFacts | undefined;
  /** Rule that settles its answer at the next start, should this one stop before. */
  rule: CallRule | undefined;
  readonly watch: CallWatch;
  /** The operator who has its watchdog act now. */
  firedBy: OrderNote | undefined;
  readonly resolve: ToolAnswered;
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

/** Calls that have their result and are told of, of one turn. */
const mostEnded = 50;

const hasEnded = 'The call has ended.';
const notDispatched = 'The call is still being written to the store: try again.';

/** Tells whether a second call of this effect may do what one did not. */
const mayDoMore = (effect: Effect | undefined): boolean => effect !== 'readOnly' && effect !== 'idempotent';

/** Told the one result of a call, and the failure it stands for. */
export type ToolAnswered = (result: ToolResult, failure: Failure | undefined) => void;

/** The tool calls of one turn: each is in the history and the ledger before it is dispatched, and is answered once. */
export class TurnCalls {
  readonly #turn: TurnScope;
  readonly #scope: SessionScope;
  readonly #open = new Map<string, OpenCall>();
  readonly #ended: EndedCall[] = [];
  /** Earlier answers to a message that is delivered again. */
  readonly #earlier: EarlierAnswers | undefined;
  #lastCall = 0;
  #over = false;

  constructor(turn: TurnScope) {
    this.#turn = turn;
    this.#scope = turn.session;
    const { message, number, delivery, session } = turn;
    this.#earlier = delivery > 1 ? new EarlierAnswers(session.history.entries, message, number) : undefined;
  }

  /** The calls that are pending, and when the watchdog ends each. */
  pending(): readonly WatchedCall[] {
    const { clock, tools } = this.#scope;
    const now = clock.now();
    return [...this.#open.values()].map(({ id, integration, tool, startedAt, watch, pending }) => ({
      call: {
        call: id,
        integration,
        tool,
        sinceMs: now - startedAt,
        progress: pending?.why(),
        target: tools.why(integration),
      },
      watchdogInMs: watch.due - now,
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
    call.watch.expire();
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
    const { clock, deadlines, history, tools } = this.#scope;
    const { ledger, watch } = this.#turn;
    const id = `${this.#scope.id}-${this.#turn.number}-${++this.#lastCall}`;
    const startedAt = clock.now();
    if (this.#over) {
      const failure = this.#failure(integration, { ...turnEnds.ended, outcome: 'not_started' });
      resolve(errorResult(failure, 0), failure);
      return () => undefined;
    }
    const at = clock.wallNow();
    const seq = history.addCall({
      type: 'tool_call',
      turn: this.#turn.number,
      call: id,
      integration,
      tool,
      input,
      at,
    });
    const declaredMs = options.longRunningMs ?? tools.longRunningMs(integration, tool);
    const limitMs = declaredMs ?? this.#scope.watchdog.toolCallMs;
    const callWatch = new CallWatch(startedAt + limitMs, () => this.#watchdogFired(id, limitMs));
    const call: OpenCall = {
      id,
      tool,
      integration,
      startedAt,
      watch: callWatch,
      resolve,
      dispatched: false,
      pending: undefined,
      endedBy: undefined,
      rule: undefined,
      firedBy: undefined,
    };
    this.#open.set(id, call);
    watch.pendingCalls++;
    watch.progressed();
    deadlines.set(callWatch);
    const settings: ToolCallSettings = {
      session: this.#scope.id,
      call: id,
      effect: options.effect,
      signal: options.signal,
      scope: options.scope,
      replace: options.replace,
      // A hair longer than the watchdog's limit: when both have come, it is the watchdog that names the reason.
      overallMs: limitMs + 1,
      longRunning: declaredMs !== undefined,
      late: (value) => this.#late(id, tool, value),
      stream,
    };
    const end = (facts: FailureFacts): void => {
      if (this.#open.has(id)) this.#end(call, facts);
    };
    if (ledger === undefined) {
      this.#dispatch(call, input, settings);
      return end;
    }
    const effect = options.effect ?? tools.effect(integration, tool, input);
    const deadlineAt = at + limitMs;
    const settledBy = stream === undefined ? tools.ruleOf(integration, tool, input, this.#scope.id) : undefined;
    call.rule = settledBy?.rule;
    const row = {
      call: id,
      turn: this.#turn.number,
      integration,
      tool,
      input,
      effect,
      seq,
      at,
      deadlineAt,
      ...settledBy,
    };
    const more = { idempotencyKey: settledBy?.idempotencyKey, reconcileLog: reconcileLog(ledger, id, clock) };
    const isOnce = settledBy !== undefined || (options.once === true && mayDoMore(effect));
    const earlier = isOnce ? this.#earlier?.take(integration, tool, input) : undefined;
    const written = ledger.open(row);
    // In one commit with its answer: a kill between the two would leave a call of which it were asked what became of it, though it was never made.
    if (earlier !== undefined) this.#answer(call, earlier);
    else void written.then((kept) => this.#written(call, kept, input, { ...settings, ...more }));
    return end;
  }

  /** The call is in the ledger, or cannot be: only now may it have effects. */
  #written(call: OpenCall, kept: Kept, input: unknown, settings: ToolCallSettings): void {
    // The watchdog or the end of the turn may have been faster than the commit.
    if (!this.#open.has(call.id)) return;
    if (kept === 'fenced') this.#end(call, turnEnds.takenOver);
    else this.#dispatch(call, input, settings);
  }

  #dispatch(call: OpenCall, input: unknown, settings: ToolCallSettings): void {
    const { id, integration, tool } = call;
    call.dispatched = true;
    try {
      call.pending = this.#scope.tools.call(integration, tool, input, settings, (outcome, attempts) =>
        this.#settled(id, outcome, attempts),
      );
      if (call.endedBy !== undefined) call.pending.end(call.endedBy);
    } catch (error) {
      const message = messageOf(error);
      this.#finish(
        id,
        this.#failure(integration, { kind: 'permanent', reason: 'not_found', message, outcome: 'not_started' }),
      );
    }
  }

  #settled(id: string, outcome: Outcome<unknown>, attempts: number): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    if (!outcome.ok) this.#finish(id, outcome.failure);
    else {
      const { value, reconciled } = outcome;
      const retries = Math.max(0, attempts - 1);
      this.#answer(call, { status: 'ok', value, retries, ...(reconciled !== undefined && { reconciled }) });
    }
  }

  /** Never given to the agent, which has its answer; kept beside it for people. */
  #late(id: string, tool: string, value: unknown): void {
    // It is of an earlier attempt: the call is still being tried, and has no answer it could be late for.
    if (this.#open.has(id)) return;
    const { clock, facts } = this.#scope;
    facts.tell({ type: 'session.late_result', session: this.#scope.id, turn: this.#turn.number, call: id, tool });
    void this.#turn.ledger?.settle(id, { status: 'ok', value, retries: 0 }, 0, clock.wallNow());
  }

  #watchdogFired(id: string, limitMs: number): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const { tool, firedBy: firedFor } = call;
    this.#scope.facts.tell({
      type: 'session.watchdog_fired',
      session: this.#scope.id,
      turn: this.#turn.number,
      rule: 'tool_call',
      limitMs,
      tool,
    });
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
    this.#finish(call.id, failure ?? this.#failure(call.integration, known));
  }

  #finish(id: string, told: Failure): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const failure = withoutSecrets(told, this.#scope.clean);
    const result = errorResult(failure, this.#scope.clock.now() - call.startedAt);
    this.#answer(call, result, failure);
    const { integration, tool } = call;
    this.#scope.facts.tell({
      type: 'session.tool_failed',
      session: this.#scope.id,
      turn: this.#turn.number,
      call: id,
      tool,
      integration,
      kind: failure.kind,
      retries: result.retries,
      synthetic: 'synthetic' in result,
      outcome: failure.outcome,
      effect: failure.effect,
      message: failure.message,
    });
  }

  #answer(call: OpenCall, result: ToolResult, failure?: Failure): void {
    const { clock, deadlines, history } = this.#scope;
    const { ledger, watch } = this.#turn;
    this.#open.delete(call.id);
    deadlines.remove(call.watch);
    watch.pendingCalls--;
    watch.progressed();
    this.#keep(call, result, failure);
    const at = clock.wallNow();
    const seq = history.addResult({ type: 'tool_result', turn: this.#turn.number, call: call.id, result, at });
    // In the queue before whatever the agent does next, and so committed before it.
    if (seq !== undefined && !isLeft(call, failure)) void ledger?.settle(call.id, result, seq, at);
    call.resolve(result, failure);
  }

  #keep(
    { id, integration, tool, startedAt, pending }: OpenCall,
    result: ToolResult,
    failure: Failure | undefined,
  ): void {
    this.#ended.push({
      ...{ call: id, integration, tool, startedAt, endedAt: this.#scope.clock.now(), ok: result.status === 'ok' },
      ...('synthetic' in result && { synthetic: true }),
      ...(failure !== undefined && { failure: { kind: failure.kind, message: failure.message } }),
      attempts: failure?.attempts ?? result.retries + 1,
      steps: pending?.steps() ?? [],
    });
    if (this.#ended.length > mostEnded) this.#ended.shift();
  }

  #failure(integration: string, facts: FailureFacts): Failure {
    return { ...facts, integration, attempts: facts.outcome === 'not_started' ? 0 : 1, retryable: false };
  }
}
