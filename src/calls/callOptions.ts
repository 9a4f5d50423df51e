import { backoffFrom, backoffKey } from '../policy/backoff.ts';
import type { Spending } from '../policy/budget.ts';
import { type Effect, effects } from '../policy/effects.ts';
import {
  anything,
  boolean,
  callback,
  choice,
  duration,
  type Given,
  type GivenValues,
  integer,
  signal,
  type Tell,
  text,
  type Values,
} from '../policy/options/optionKeys.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from '../policy/policy.ts';
import { readGiven } from '../policy/options/readOptions.ts';
import { type KnownTool, toolLimits, limitRule } from '../policy/toolOptions.ts';
import type { Resume, StreamedAttempt } from '../streams/chunkRelay.ts';
import type { Asked, Reconciler, ReconcileLog } from '../policy/reconciler.ts';
import { type FallbackOption, fallbackOf } from './fallback.ts';
import { isRetried } from './workSignal.ts';
import type { ErrorPattern } from '../policy/failures/classify.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Fallback, Operation } from './operation.ts';

/** Reads streams for a call. */
export interface StreamReader<I> {
  /** The input of the next attempt. */
  inputOf(input: I): I;
  /** Settles when the stream has ended. Answers must have become streams by then. */
  read(answer: unknown, attempt: StreamedAttempt): Promise<unknown>;
  /** Attempts that may follow: any, only one that goes on where this one ended, or none. */
  readonly continuation: 'any' | 'resumes' | 'none';
}

/** Way of keeping the work of a call that a limit ends, for an equal one of its session to join. */
export interface KeepRule {
  /** Time in ms, above 0, for which it goes on. */
  readonly ms: number;
  /** Tells what a request asks for: equal ones are one call. Must not throw. */
  readonly about: (request: never) => Asked;
  /** True for a call that joins nothing, and is given no earlier answer. @defaultValue false */
  readonly fresh?: boolean | undefined;
  /** Told when an equal call was given its late answer, or that this is lost: once. Must not throw. */
  readonly given?: (() => void) | undefined;
  /** Told of a failure that its work ended with after the call had ended; must not throw. */
  readonly failed?: ((facts: FailureFacts) => void) | undefined;
}

/** Everything a call is made with, checked and complete. */
export interface CallSettings<I, O> extends Limits {
  /** The limits of the integration, or of its tool, where the caller may have given others. @defaultValue these */
  readonly ownLimits?: Limits | undefined;
  readonly retry: RetryPolicy;
  readonly effect?: Effect | undefined;
  /** Returns its effect as the other side says, as of now; asked where `effect` is undefined. Must not throw. */
  readonly learnedEffect?: (() => Effect | undefined) | undefined;
  readonly label?: string | undefined;
  readonly session?: string | undefined;
  /** Scope whose calls come one at a time. */
  readonly scope?: string | undefined;
  /** Lets it end the call that holds its scope, rather than be refused. */
  readonly replace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue its work is told to end when the call ends */
  readonly keep?: KeepRule | undefined;
  /** Rule that settles lost answers. @defaultValue nothing does */
  readonly reconcile?: Reconciler | undefined;
  /** Log that follows that for the ledger. @defaultValue nobody does */
  readonly reconcileLog?: ReconcileLog | undefined;
  /** Its id in the ledger of its session. @defaultValue it is in none */
  readonly ledgerCall?: string | undefined;
  /** By which the other side knows it again, where its rule gives it a key. @defaultValue a new one */
  readonly idempotencyKey?: string | undefined;
  /** True where an earlier process had sent it, and lost its answer: it may have taken effect before its first attempt here. @defaultValue false */
  readonly isSentBefore?: boolean | undefined;
  readonly fallback?: Fallback<I, O> | undefined;
  /** Texts of errors and the kinds they stand for, besides those that are known. */
  readonly patterns?: readonly ErrorPattern[] | undefined;
  /** Told when an attempt is given up, for work that would rather not have a signal made for it; must not throw. */
  readonly givenUp?: ((input: I, facts: FailureFacts) => void) | undefined;
  /** Told when an attempt failed and the call will try again; must not throw. */
  readonly retried?: ((facts: FailureFacts, attempt: number) => void) | undefined;
  /** Gets a value that came after the call had ended; must not throw. */
  readonly late?: ((value: O) => void) | undefined;
  /** Told what its attempts say that they cost. */
  readonly spent?: ((costs: Spending) => void) | undefined;
  /** Reader of the answer of each attempt as a stream; the call ends when that has. */
  readonly stream?: StreamReader<I> | undefined;
  /** Operation that answers with that stream. @defaultValue what the integration does for a stream */
  readonly streamed?: Operation<I, unknown> | undefined;
  /** True where it is part of a turn, which may end while new calls are refused. */
  readonly underWay?: boolean | undefined;
  /** True where its outcome settles a promise: nobody runs before the step is complete, so that need not wait for its end. @defaultValue false */
  readonly isPromised?: boolean | undefined;
  /** True where it belongs to a call of another integration, which alone is told and counted. @defaultValue false */
  readonly isPart?: boolean | undefined;
  /** True where a reconcile rule makes it, to find out the fate of another: it is counted as a tool of its own. @defaultValue false */
  readonly isQuestion?: boolean | undefined;
  /** True for the integration's own harmless probe, which no caller made. */
  readonly isProbe?: boolean | undefined;
}

/** Keys for the one a call gives way to. */
export const scopeKeys = {
  /**
   * Calls of one scope run one at a time: while one is under way a second is refused (`too_many_requests`, `scope_busy`). Work that
   * was given up may still be ending; it is waited for, at most its grace, and keeps its scope until it ends or the integration is
   * restarted or reset. Said by who calls, never by what an agent asks for.
   * @defaultValue none
   */
  scope: text(),
  /** Ends the call that holds the scope (`cancelled`, `replaced`) instead of being refused; only with `scope`. @defaultValue false */
  replace: boolean(),
};

const sharedKeys = {
  ...scopeKeys,
  /**
   * Ends the call when aborted; an aborted one never starts the operation. Its reason is kept as the failure's cause. With the signal of an
   * item of a workflow the call makes one attempt unless `maxAttempts` is given: the item is what is tried again.
   */
  signal,
  /** Effect that the call may have on the world. @defaultValue unspecified: the policy's `retry.repeatAfter` says after what it is tried again */
  effect: choice(effects),
  /** Names the call in events and records. */
  label: text(),
  /** Attempts in all, at least 1. @defaultValue the policy's */
  maxAttempts: integer(),
  /** The waits between attempts, such as `{ initialMs: 200, maxMs: 5000 }`. @defaultValue the policy's */
  backoff: backoffKey,
  /** Without a sign of life, per attempt, in ms above 0. @defaultValue the policy's */
  idleMs: duration(),
  /** Per attempt, in ms above 0; at most `overallMs` where that is given, which else is raised to it. @defaultValue the policy's */
  attemptMs: duration(),
  /** For the whole call, in ms above 0. @defaultValue the policy's */
  overallMs: duration(),
};

const callKeys = { ...sharedKeys, fallback: anything };

/** The options of a stream. */
export const streamKeys = { ...sharedKeys, resume: callback<Resume<never, never>>() };

/** Options of one call that differ from its integration's policy. */
export interface CallOptions<I, O> extends Given<typeof sharedKeys> {
  /** Answers when the integration cannot, within the call's own deadline: a function, `{ value }` or `{ integration }`. */
  readonly fallback?: FallbackOption<I, O> | undefined;
}

/** Options of one stream that differ from its integration's policy. Its limit on silence counts while the reader waits for a chunk. */
export interface CallStreamOptions<I, C> extends Omit<CallOptions<I, never>, 'fallback'> {
  /**
   * Gives the input of an attempt that goes on after `lastChunk`, the last one that was taken, of `chunks` in all. With it a stream that
   * breaks in the middle may be tried again.
   * @defaultValue none: a stream is tried again only before its first chunk was taken
   */
  readonly resume?: Resume<I, C> | undefined;
}

/** The settings of a call without options. */
export function defaultSettings<I, O>(policy: IntegrationPolicy, effect: Effect | undefined): CallSettings<I, O> {
  return {
    ...policy.limits,
    retry: policy.retry,
    effect,
    label: undefined,
    session: undefined,
    signal: undefined,
    fallback: undefined,
    stream: undefined,
    isProbe: undefined,
    isPromised: true,
  };
}

/** The settings of a call of a tool that has limits or an effect of its own. */
export function settingsOfTool<I, O>(defaults: CallSettings<I, O>, tool: KnownTool): CallSettings<I, O> {
  const { reconciler: reconcile, learnedEffect } = tool;
  const effect = effectUnder(reconcile, tool.effect ?? defaults.effect);
  return { ...defaults, ...toolLimits(defaults, tool), effect, learnedEffect, reconcile };
}

/** Decides on the effect of a call, by the word on it and its rule: with a key of its own it may be repeated, whatever it does. */
export function effectUnder(reconcile: Reconciler | undefined, effect: Effect | undefined): Effect | undefined {
  return reconcile?.kind === 'key' && effect !== 'readOnly' ? 'idempotent' : effect;
}

/** The settings of a call with these options. @throws TypeError or RangeError when one is wrong. */
export function settingsOf<I, O>(defaults: CallSettings<I, O>, options: CallOptions<I, O>): CallSettings<I, O> {
  const { fallback } = options;
  return settingsGiven(defaults, readGiven('options', options, callKeys, callRule), fallback);
}

/** The settings of a stream with these options. @throws TypeError or RangeError when one is wrong. */
export function settingsOfStream<I, O>(
  defaults: CallSettings<I, O>,
  options: CallStreamOptions<I, never>,
): CallSettings<I, O> {
  return settingsGiven(defaults, readGiven('options', options, streamKeys, callRule), undefined);
}

function callRule(values: GivenValues<typeof sharedKeys>, tell: Tell): void {
  scopeRule(values, tell);
  limitRule(values, tell);
}

function settingsGiven<I, O>(
  defaults: CallSettings<I, O>,
  given: GivenValues<typeof sharedKeys>,
  fallback: FallbackOption<I, O> | undefined,
): CallSettings<I, O> {
  const { signal, effect, label, scope, replace } = given;
  const maxAttempts = given.maxAttempts ?? (isRetried(signal) ? 1 : undefined);
  const backoff = given.backoff === undefined ? undefined : backoffFrom(given.backoff);
  return {
    ownLimits: defaults,
    idleMs: given.idleMs ?? defaults.idleMs,
    attemptMs: given.attemptMs ?? defaults.attemptMs,
    // A limit that could never be reached would say nothing.
    overallMs: given.overallMs ?? Math.max(defaults.overallMs, given.attemptMs ?? 0),
    retry:
      maxAttempts === undefined && backoff === undefined
        ? defaults.retry
        : {
            ...defaults.retry,
            maxAttempts: maxAttempts ?? defaults.retry.maxAttempts,
            backoff: backoff ?? defaults.retry.backoff,
          },
    effect: effectUnder(defaults.reconcile, effect ?? defaults.effect),
    reconcile: defaults.reconcile,
    learnedEffect: defaults.learnedEffect,
    label,
    session: undefined,
    scope,
    replace,
    signal,
    isPromised: true,
    fallback:
      fallback === undefined
        ? undefined
        : fallbackOf('options.fallback', fallback, {
            effect: () => effect ?? defaults.effect ?? defaults.learnedEffect?.(),
            repeatAfter: defaults.retry.repeatAfter,
          }),
  };
}

/** There is nothing to replace without a scope. */
export function scopeRule({ scope, replace }: Values<typeof scopeKeys>, tell: Tell): void {
  if (replace === true && scope === undefined) tell('scope', { says: 'beside `options.replace`' });
}
