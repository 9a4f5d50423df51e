import { scopeKeys, scopeRule } from '../calls/callOptions.ts';
import type { Duration } from '../policy/duration.ts';
import { type Effect, effects } from '../policy/effects.ts';
import { callback, choice, duration, type KeysOf, signal, type GivenValues } from '../policy/optionKeys.ts';
import type { Resume } from '../streams/chunkRelay.ts';
import { readGiven } from '../policy/readOptions.ts';

export interface ToolCallOptions {
  /** What the call may do to the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  readonly effect?: Effect | undefined;
  /**
   * Declares the call long-running: its own limit in ms, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  readonly longRunningMs?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Calls of one scope of an integration run one at a time, those of other sessions included; a second one is refused. @defaultValue none */
  readonly scope?: string | undefined;
  /** Ends the call that holds the scope instead of being refused; only with `scope`. @defaultValue false */
  readonly replace?: boolean | undefined;
}

const toolCallKeys = {
  ...scopeKeys,
  effect: choice(effects),
  longRunningMs: duration(),
  signal,
} satisfies KeysOf<ToolCallOptions>;

const toolStreamKeys = { ...toolCallKeys, resume: callback<Resume<never, never>>() };

/** {@link ToolCallOptions}, checked; limits in ms. */
export type CheckedToolCall = GivenValues<typeof toolCallKeys>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolCall(options: ToolCallOptions): CheckedToolCall {
  return readGiven('options', options, toolCallKeys, scopeRule);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolStream(options: object): GivenValues<typeof toolStreamKeys> {
  return readGiven('options', options, toolStreamKeys, scopeRule);
}
