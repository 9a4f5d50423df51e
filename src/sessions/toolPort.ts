import { effectUnder, type CallSettings, type KeepRule, type StreamReader } from '../calls/callOptions.ts';
import type { CallPath } from '../calls/callPath.ts';
import { circuitOf } from '../calls/integration.ts';
import type { Operation } from '../calls/operation.ts';
import { inputKeyOf } from '../calls/reconcile/openEffects.ts';
import type { ToolForms } from '../calls/reconcile/requestForms.ts';
import type { Clock } from '../policy/clock.ts';
import { type Effect, type RepeatAfter, repeatChoices } from '../policy/effects.ts';
import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import type { OrderNote } from '../policy/operatorOrder.ts';
import type { Limits, RetryPolicy } from '../policy/policy.ts';
import { hasOwnAttempts } from '../policy/presetChain.ts';
import type { ReconcileLog } from '../policy/reconciler.ts';
import { repeatRule } from '../policy/spinning/spinningWatch.ts';
import type { ToolCallRetry } from '../policy/toolCallRetry.ts';
import { toolLimits, type ToolSettings, type Tools } from '../policy/toolOptions.ts';
import type { CheckedReading } from '../streams/httpReading.ts';
import { lostFacts } from './lostCall.ts';
import type { Finding } from '../policy/reconcileMatch.ts';
import type { CallRule, KeptCallRow, LostCall } from './sessionStore.ts';
import type { ToolResult } from './toolResult.ts';
import type { TargetWhy } from './why.ts';

/** Way of a session to its tools; retries of a session's call are decided by the session's policy alone. */
export type ToolPort = ReturnType<typeof createToolPort>;

/** A call under way that can be ended from outside. */
export type PendingCall = ReturnType<ToolPort['call']>;

/** A tool whose answer is a stream. */
export interface ToolStreaming {
  readonly reader: StreamReader<unknown>;
  /** Reading of the answer of an HTTP API. @defaultValue as its integration says */
  readonly reading: CheckedReading | undefined;
}

/** Settings of one tool call; `overallMs` is the time left for it, waits and retries included. */
export interface ToolCallSettings
  extends Pick<
    CallSettings<unknown, unknown>,
    'overallMs' | 'effect' | 'signal' | 'scope' | 'replace' | 'late' | 'spent' | 'idempotencyKey' | 'reconcileLog'
  > {
  /** Follows it where it is kept. */
  readonly keep: Pick<KeepRule, 'fresh' | 'given' | 'failed'>;
  readonly session: string;
  /** Its id in the history and the ledger. */
  readonly call: string;
  /** True where `overallMs` is a limit the tool declared for itself, which then is that of each attempt too. */
  readonly longRunning: boolean;
  /** Reads the tool's answer as a stream. */
  readonly stream?: ToolStreaming | undefined;
}

/** An integration as sessions see it. */
export interface ToolTarget {
  readonly path: CallPath<unknown, unknown>;
  readonly effect: Effect | undefined;
  readonly tools: Tools;
  /** Time for which its calls are kept, in ms, where a tool does not say. @defaultValue 0 */
  readonly keepMs?: number | undefined;
  /** Tells the effect of a tool call from its input, where the tool says nothing: the method of an HTTP request. Must not throw. */
  readonly effectOf?: ((input: unknown) => Effect | undefined) | undefined;
  /** Makes the integration's request of a tool call. */
  readonly request: (tool: string, input: unknown) => unknown;
  /** Makes that of a question of our own, by the name that the tool has there. @defaultValue as `request` */
  readonly question?: ((tool: string, input: unknown) => unknown) | undefined;
  /** Answers with a stream that is read as the caller says, where it can be. */
  readonly streamedBy?: ((reading: CheckedReading) => Operation<unknown, unknown>) | undefined;
  /** Forms of its requests and answers, as reconcile rules see them. */
  readonly forms: ToolForms;
  /** Tells whether its server, as far as it has listed its tools, has none of this name. @defaultValue that is not known */
  readonly lacks?: ((tool: string) => boolean) | undefined;
  /** The process behind it and the last line it printed, where there is one. */
  readonly behind?: (() => TargetWhy['process']) | undefined;
}

/** Joins sessions to integrations. One owner retries: a session's tool call goes by its own policy, whatever its integration's policy says. */
export function createToolPort(
  targets: ReadonlyMap<string, ToolTarget>,
  { retry, chosen, patterns }: ToolCallRetry,
  clock: Pick<Clock, 'now' | 'stalls'>,
) {
  const retries = new WeakMap<RetryPolicy, RetryPolicy>();
  /** Once for each integration: calls of one policy are known by that. */
  function retryOf(integration: RetryPolicy): RetryPolicy {
    const known = retries.get(integration) ?? tighter(retry, chosen, integration);
    retries.set(integration, known);
    return known;
  }

  return {
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
    ) {
      const target = targets.get(integration);
      if (target === undefined) {
        throw new RangeError(`No integration \`${integration}\`; known: ${[...targets.keys()].join(', ') || 'none'}`);
      }
      const own = target.tools.get(tool);
      const reconcile = options.stream === undefined ? own?.reconciler : undefined;
      const { idleMs, attemptMs, overallMs } = limitsOf(target.path.policy.limits, own, options);
      // Field by field: behind a spread V8 moves the object with each field that is added.
      const settings: CallSettings<unknown, unknown> = {
        idleMs,
        attemptMs,
        overallMs,
        retry: retryOf(target.path.policy.retry),
        effect: effectUnder(reconcile, options.effect ?? own?.effect ?? target.effectOf?.(input) ?? target.effect),
        learnedEffect: own?.learnedEffect,
        reconcile,
        keep: options.stream === undefined ? keepOf(target, own, options.keep) : undefined,
        label: tool,
        session: options.session,
        ledgerCall: options.call,
        idempotencyKey: options.idempotencyKey,
        reconcileLog: options.reconcileLog,
        signal: options.signal,
        scope: options.scope,
        replace: options.replace,
        fallback: undefined,
        underWay: true,
        late: options.late,
        spent: options.spent,
        stream: streamOf(options.stream?.reader, input, (next) => target.request(tool, next)),
        streamed: options.stream?.reading && target.streamedBy?.(options.stream.reading),
        patterns,
      };
      // A limit that the handler gave one call, shorter than the integration's, says nothing about the integration (table 1).
      const isShortened =
        options.longRunning && options.overallMs < toolLimits(target.path.policy.limits, own).attemptMs;
      const judged = (facts: FailureFacts): FailureFacts =>
        isShortened && facts.kind === 'watchdog' ? { ...facts, breaker: 'ignored' } : facts;
      let attempts = (): number => 0;
      const call = target.path.start(target.request(tool, input), settings, (outcome) => settled(outcome, attempts()));
      attempts = () => call.attempts;
      return {
        /** @returns the failure that it ends with, with what is known of its attempts; undefined where it had ended. */
        end: (facts: FailureFacts) => target.path.end(call, judged(facts)),
        /** Tells what it waits for as of now; undefined once it is settled. */
        why: () => target.path.why(call),
        /** Attempts that failed and waits that are over, also once it is settled. */
        steps: () => call.progress.trail?.steps ?? [],
        /** Has the rule of this id act now. @param announce - told before it acts, where it does. @param note - who wants it. */
        fire: (rule: string, announce: () => void, note: OrderNote) => target.path.fire(call, rule, announce, note),
        /** Has no further attempt follow. @param announce - told before, where one could have. */
        stopRetrying: (announce: () => void) => target.path.stopRetrying(call, announce),
      };
    },
    /** Finds what settles a lost answer of the tool, and the key of a new call where that does it. */
    ruleOf(
      integration: string,
      tool: string,
      input: unknown,
      session: string,
    ): { readonly rule: CallRule; readonly idempotencyKey?: string | undefined } | undefined {
      const target = targets.get(integration);
      const reconciler = target?.tools.get(tool)?.reconciler;
      if (target === undefined || reconciler === undefined) return undefined;
      if (reconciler.kind === 'ask') return { rule: 'ask' };
      const { path, request } = target;
      return { rule: 'key', idempotencyKey: path.starts.newKey(reconciler, request(tool, input), { session }) };
    },
    /** Tells whether `recover` can find out what became of a call whose gateway ended. */
    canRecover({ integration, tool, rule, idempotencyKey }: LostCall): boolean {
      const kind = targets.get(integration)?.tools.get(tool)?.reconciler?.kind;
      return kind !== undefined && kind === rule && (kind === 'ask' || idempotencyKey !== undefined);
    },
    /** Finds that out as the rule of its tool says: asks, or makes the call again with its key. Never takes for ever. */
    recover(lost: LostCall, log: ReconcileLog, settled: (outcome: Outcome<unknown>) => void) {
      const { integration, tool, session, call, input, startedAt, idempotencyKey } = lost;
      const target = targets.get(integration);
      const own = target?.tools.get(tool);
      const reconcile = own?.reconciler;
      if (target === undefined || reconcile === undefined) throw new RangeError(`No rule for ${integration} ${tool}`);
      const { limits } = target.path.policy;
      const settings: CallSettings<unknown, unknown> = {
        ...toolLimits(limits, own),
        retry: retryOf(target.path.policy.retry),
        effect: effectUnder(reconcile, lost.effect),
        reconcile,
        label: tool,
        session,
        ledgerCall: call,
        idempotencyKey,
        reconcileLog: log,
        signal: undefined,
        fallback: undefined,
        underWay: true,
        patterns,
      };
      const request = target.request(tool, input);
      const made =
        reconcile.kind === 'key'
          ? target.path.start(request, { ...settings, isSentBefore: true }, settled)
          : target.path.starts.recover(request, settings, { startedAt, facts: lostFacts(lost) }, settled);
      return { why: () => target.path.why(made) };
    },
    /** Tells whether a call of a session would not be made, as an equal one is or was kept. */
    joins(integration: string, tool: string, input: unknown, session: string): boolean {
      const target = targets.get(integration);
      return target?.path.starts.joins(session, target.forms.about(target.request(tool, input))) === true;
    },
    /** Tells whether calls of a session are kept, or asked about: something of it is under way. */
    keeps: (session: string) => [...targets.values()].some(({ path }) => path.keeps(session)),
    /** Takes up a call that an earlier process had kept. */
    restoreKept(row: KeptCallRow, wallNow: number, given: () => void): void {
      const { session, call, integration, tool, input, effect, startedAt, until, late } = row;
      const target = targets.get(integration);
      if (target === undefined || effect === 'readOnly') return;
      const at = clock.now() - Math.max(0, wallNow - (late?.at ?? until));
      const kept = { id: call, startedAt: clock.now() - Math.max(0, wallNow - startedAt), given };
      const about = target.forms.about(target.request(tool, input));
      const key = inputKeyOf(about);
      target.path.starts.restoreKept(session, key, { at, kept, finding: findingOf(late?.result) });
    },
    /** Tells what goes on of a session's calls, as it is kept. */
    keptWhy: (session: string) => [...targets.values()].flatMap(({ path }) => path.keptWhy(session)),
    /** Gives the limit a tool declares for itself, in ms, when it is long-running. */
    longRunningMs: (integration: string, tool: string) => targets.get(integration)?.tools.get(tool)?.longRunningMs,
    /** Gives what a call of the tool may do to the world, as far as is known by now, where the call itself does not say. */
    effect(integration: string, tool: string, input: unknown): Effect | undefined {
      const target = targets.get(integration);
      const own = target?.tools.get(tool);
      const effect = own?.effect ?? target?.effectOf?.(input) ?? target?.effect ?? own?.learnedEffect?.();
      return effectUnder(own?.reconciler, effect);
    },
    /** Gives what is declared of the repetition of a tool's calls. */
    repeatRule: (integration: string, tool: string) => repeatRule(targets.get(integration)?.tools.get(tool)),
    /** Tells whether the answers of an integration can be read in several ways. */
    isRead: (integration: string) => targets.get(integration)?.streamedBy !== undefined,
    /** Gives what an integration says of itself; undefined when there is none of that name. */
    why(integration: string): TargetWhy | undefined {
      const target = targets.get(integration);
      if (target === undefined) return undefined;
      const { link } = target.path;
      const circuit = circuitOf(link);
      const process = target.behind?.();
      const restartInMs = target.path.comeback?.inMs;
      return {
        state: link.state,
        circuit,
        ...(circuit === 'open' && { probeInMs: Math.max(0, link.openUntil - clock.now()) }),
        ...(restartInMs !== undefined && { restartInMs }),
        ...(process !== undefined && { process }),
      };
    },
  };
}

/** What became of a call that an earlier process had kept: without an answer that was written down it ended with that. */
function findingOf(result: ToolResult | undefined): Finding {
  if (result === undefined) return { verdict: 'unknown', how: 'the gateway that kept it ended before its answer came' };
  if (result.status === 'ok') return { verdict: 'done', how: 'its answer came late', result };
  const failed = { kind: 'permanent', message: result.error, outcome: 'failed' } as const;
  return { verdict: 'done', how: 'it answered late with a failure', failed };
}

/** Keeps a call where its integration or its tool says for how long. */
function keepOf(
  { keepMs = 0, forms }: ToolTarget,
  own: ToolSettings | undefined,
  log: ToolCallSettings['keep'],
): KeepRule | undefined {
  const ms = own?.keepMs ?? keepMs;
  return ms > 0 ? { ms, about: forms.about, ...log } : undefined;
}

/** A session resumes by the input of its tool; its integration takes requests. */
function streamOf(
  stream: StreamReader<unknown> | undefined,
  input: unknown,
  request: (input: unknown) => unknown,
): StreamReader<unknown> | undefined {
  if (stream === undefined) return undefined;
  return {
    inputOf: () => request(stream.inputOf(input)),
    read: (answer, attempt) => stream.read(answer, attempt),
    get continuation() {
      return stream.continuation;
    },
  };
}

/** The session's policy retries, within what the integration allows: one that is not to be called again is not. */
function tighter(session: RetryPolicy, chosen: boolean, integration: RetryPolicy): RetryPolicy {
  const isBound = !chosen || hasOwnAttempts(integration);
  return {
    ...session,
    maxAttempts: isBound ? Math.min(session.maxAttempts, integration.maxAttempts) : session.maxAttempts,
    repeatAfter: saferOf(session.repeatAfter, integration.repeatAfter),
  };
}

function saferOf(one: RepeatAfter, other: RepeatAfter): RepeatAfter {
  return repeatChoices.indexOf(one) < repeatChoices.indexOf(other) ? one : other;
}

function limitsOf(
  limits: Limits,
  own: ToolSettings | undefined,
  call: { overallMs: number; longRunning: boolean },
): Limits {
  const { idleMs, attemptMs, overallMs } = toolLimits(limits, own);
  if (call.longRunning) return { idleMs, attemptMs: call.overallMs, overallMs: call.overallMs };
  return { idleMs, attemptMs, overallMs: Math.min(overallMs, call.overallMs) };
}
