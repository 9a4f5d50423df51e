import type { DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { Clock } from '../policy/clock.ts';
import { type Effect, effects } from '../policy/effects.ts';
import type { Facts } from '../policy/facts.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import { checkDuration, checkKeys, checkName, checkOneOf } from '../policy/options.ts';
import type { History } from './history.ts';
import { errorResult, type ToolResult } from './toolResult.ts';
import { CallWatch, type TurnWatch } from './watch.ts';

export interface ToolCallOptions {
  /** What the call may do to the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  readonly effect?: Effect | undefined;
  /**
   * Declares the call long-running: its own limit in ms, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  readonly longRunningMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A call under way that can be ended from outside. */
export interface PendingCall {
  end(facts: FailureFacts): void;
}

export interface ToolCallSettings {
  readonly session: string;
  readonly effect: Effect | undefined;
  readonly signal: AbortSignal | undefined;
  /** What is left for the call, waits and retries included, in ms. */
  readonly overallMs: number;
  /** Whether `overallMs` is a limit the tool declared for itself, which then is that of each attempt too. */
  readonly longRunning: boolean;
}

/** How a session reaches its tools; retries of a session's call are decided by the session's policy alone. */
export interface ToolPort {
  /**
   * Starts one supervised call; `settled` is told its one outcome and the attempts made, maybe before this returns.
   * @throws RangeError when there is no integration of that name.
   */
  call(
    integration: string,
    tool: string,
    input: unknown,
    options: ToolCallSettings,
    settled: (outcome: Outcome<unknown>, attempts: number) => void,
  ): PendingCall;
  /** The limit a tool declares for itself, in ms, when it is long-running. */
  longRunningMs(integration: string, tool: string): number | undefined;
}

/** What a turn is made of. */
export interface TurnParts {
  readonly session: string;
  readonly number: number;
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: Facts;
  readonly tools: ToolPort;
  readonly history: History;
  readonly toolCallMs: number;
  readonly watch: TurnWatch;
}

interface OpenCall {
  readonly id: string;
  readonly tool: string;
  readonly integration: string;
  readonly startedAt: number;
  pending: PendingCall | undefined;
  readonly watch: CallWatch;
  readonly resolve: (result: ToolResult) => void;
}

/** One message being processed: what its handler is given. */
export class Turn {
  readonly number: number;
  readonly session: string;
  readonly #parts: TurnParts;
  readonly #open = new Map<string, OpenCall>();
  readonly #controller = new AbortController();
  #lastCall = 0;
  #over = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.number = parts.number;
    this.session = parts.session;
  }

  /** Aborted when the turn is to end: by its watchdog, or because the session stops. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A sign of progress outside tool calls; restarts the turn's watchdog. */
  readonly touch = (): void => {
    this.#parts.watch.progressed();
  };

  /**
   * Calls a tool through an integration. Never rejects and always answers: after the watchdog's limit at the latest, with a
   * synthetic error result.
   * @throws TypeError or RangeError at once when a name or an option is wrong.
   */
  readonly tool = (
    integration: string,
    tool: string,
    input?: unknown,
    options: ToolCallOptions = {},
  ): Promise<ToolResult> => {
    checkName('integration', integration);
    checkName('tool', tool);
    checkToolCall(options);
    return new Promise((resolve) => this.#call(integration, tool, input, options, resolve));
  };

  /** Asks for the operator; an event, the turn goes on. */
  readonly escalate = (reason: string): void => {
    checkName('reason', reason);
    this.#parts.facts.tell({ type: 'session.escalated', session: this.session, turn: this.number, reason });
  };

  /** Ends every open call and refuses new ones: the turn is over, whatever its handler still does. */
  close(facts: FailureFacts): void {
    this.#endCalls(facts);
    this.#parts.watch.stop();
  }

  /** Tells the handler to end; its open calls end, and new ones are refused. */
  abort(facts: FailureFacts): void {
    this.#endCalls(facts);
    this.#controller.abort(new Error(facts.message));
  }

  #endCalls(facts: FailureFacts): void {
    this.#over = true;
    for (const call of [...this.#open.values()]) this.#end(call, facts);
  }

  #call(
    integration: string,
    tool: string,
    input: unknown,
    options: ToolCallOptions,
    resolve: (result: ToolResult) => void,
  ): void {
    const { clock, deadlines, history, tools, watch } = this.#parts;
    const id = `${this.session}-${this.number}-${++this.#lastCall}`;
    const startedAt = clock.now();
    if (this.#over) {
      resolve(errorResult(this.#failure(integration, turnEnded), 0));
      return;
    }
    history.addCall({ type: 'tool_call', turn: this.number, call: id, integration, tool, input, at: clock.wallNow() });
    const declaredMs = options.longRunningMs ?? tools.longRunningMs(integration, tool);
    const limitMs = declaredMs ?? this.#parts.toolCallMs;
    const callWatch = new CallWatch(startedAt + limitMs, () => this.#watchdogFired(id, limitMs));
    const call: OpenCall = { id, tool, integration, startedAt, watch: callWatch, resolve, pending: undefined };
    this.#open.set(id, call);
    watch.pendingCalls++;
    watch.progressed();
    deadlines.set(callWatch);
    const settings: ToolCallSettings = {
      session: this.session,
      effect: options.effect,
      signal: options.signal,
      // A hair longer than the watchdog's limit: when both have come, it is the watchdog that names the reason.
      overallMs: limitMs + 1,
      longRunning: declaredMs !== undefined,
    };
    try {
      call.pending = tools.call(integration, tool, input, settings, (outcome, attempts) =>
        this.#settled(id, outcome, attempts),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
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
    else this.#answer(call, { status: 'ok', value: outcome.value, retries: Math.max(0, attempts - 1) });
  }

  #watchdogFired(id: string, limitMs: number): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const { tool } = call;
    this.#parts.facts.tell({
      type: 'session.watchdog_fired',
      session: this.session,
      turn: this.number,
      rule: 'tool_call',
      limitMs,
      tool,
    });
    this.#end(call, {
      kind: 'watchdog',
      message: `${tool} did not answer within ${limitMs} ms`,
      outcome: 'unknown',
    });
  }

  /** Ends a call for a reason of the session's. The agent's answer does not depend on what the call path makes of it. */
  #end(call: OpenCall, facts: FailureFacts): void {
    call.pending?.end(facts);
    this.#finish(call.id, this.#failure(call.integration, facts));
  }

  #finish(id: string, failure: Failure): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    const result = errorResult(failure, this.#parts.clock.now() - call.startedAt);
    this.#answer(call, result);
    const { integration, tool } = call;
    this.#parts.facts.tell({
      type: 'session.tool_failed',
      session: this.session,
      turn: this.number,
      call: id,
      tool,
      integration,
      kind: failure.kind,
      retries: result.retries,
      synthetic: 'synthetic' in result,
      message: failure.message,
    });
  }

  #answer(call: OpenCall, result: ToolResult): void {
    const { clock, deadlines, history, watch } = this.#parts;
    this.#open.delete(call.id);
    deadlines.remove(call.watch);
    watch.pendingCalls--;
    watch.progressed();
    history.addResult({ type: 'tool_result', turn: this.number, call: call.id, result, at: clock.wallNow() });
    call.resolve(result);
  }

  #failure(integration: string, facts: FailureFacts): Failure {
    return { ...facts, integration, attempts: facts.outcome === 'not_started' ? 0 : 1, retryable: false };
  }
}

function checkToolCall(options: ToolCallOptions): void {
  checkKeys('options', options, ['effect', 'longRunningMs', 'signal']);
  const { effect, longRunningMs, signal } = options;
  if (effect !== undefined) checkOneOf('options.effect', effect, effects);
  if (longRunningMs !== undefined) checkDuration('options.longRunningMs', longRunningMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('Expected `options.signal` to be an AbortSignal');
  }
}

const turnEnded: FailureFacts = {
  kind: 'cancelled',
  reason: 'turn_ended',
  message: 'The turn of this call has ended',
  outcome: 'not_started',
};
