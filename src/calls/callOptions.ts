import { backoffFrom, backoffKey } from '../policy/backoff.ts';
import { type Effect, effects } from '../policy/effects.ts';
import {
  anything,
  boolean,
  callback,
  choice,
  duration,
  type GivenValues,
  integer,
  type Given,
  signal,
  type Tell,
  text,
  type Values,
} from '../policy/optionKeys.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { readGiven } from '../policy/readOptions.ts';
import { type KnownTool, toolLimits, limitRule } from '../policy/toolOptions.ts';
import type { Resume } from '../streams/chunkRelay.ts';
import type { CallSettings } from './callSettings.ts';
import type { Reconciler } from '../policy/reconciler.ts';
import { type FallbackOption, fallbackOf } from './fallback.ts';
import { isRetried } from './workSignal.ts';

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

/**
 * The settings of a call with these options.
 * @throws TypeError or RangeError when one is wrong.
 */
export function settingsOf<I, O>(defaults: CallSettings<I, O>, options: CallOptions<I, O>): CallSettings<I, O> {
  const { fallback } = options;
  return settingsGiven(defaults, readGiven('options', options, callKeys, callRule), fallback);
}

/**
 * The settings of a stream with these options.
 * @throws TypeError or RangeError when one is wrong.
 */
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
