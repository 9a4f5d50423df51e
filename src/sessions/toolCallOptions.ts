import { scopeKeys, scopeRule } from '../calls/callOptions.ts';
import type { Duration } from '../policy/duration.ts';
import { type Effect, effects } from '../policy/effects.ts';
import { boolean, callback, choice, duration, type KeysOf, signal, type GivenValues } from '../policy/optionKeys.ts';
import type { Resume } from '../streams/chunkRelay.ts';
import { type CheckedReading, readingKeys, readingRule } from '../streams/httpReading.ts';
import { readGiven } from '../policy/readOptions.ts';

/** Options of one tool call of a turn. */
export interface ToolCallOptions {
  /** Effect that the call may have on the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  readonly effect?: Effect | undefined;
  /**
   * Declares the call long-running: its own limit, in ms above 0, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  readonly longRunningMs?: Duration | undefined;
  /** Cancels the call when aborted. @defaultValue the turn’s alone */
  readonly signal?: AbortSignal | undefined;
  /** Calls of one scope of an integration run one at a time, those of other sessions included; a second one is refused. @defaultValue none */
  readonly scope?: string | undefined;
  /** Ends the call that holds the scope instead of being refused; only with `scope`. @defaultValue false */
  readonly replace?: boolean | undefined;
  /**
   * Keeps a message that is delivered again from making the call again where it took effect, or may have: it is answered with what an equal call of the
   * earlier delivery was. Calls that change nothing, or nothing more, are made again. With a reconcile rule it is always so. @defaultValue false
   */
  readonly once?: boolean | undefined;
}

const toolCallKeys = {
  ...scopeKeys,
  effect: choice(effects),
  longRunningMs: duration(),
  once: boolean(),
  signal,
} satisfies KeysOf<ToolCallOptions>;

const toolStreamKeys = { ...toolCallKeys, ...readingKeys, resume: callback<Resume<never, never>>() };

/** {@link ToolCallOptions}, checked; limits in ms. */
export type CheckedToolCall = GivenValues<typeof toolCallKeys>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolCall(options: ToolCallOptions): CheckedToolCall {
  return readGiven('options', options, toolCallKeys, scopeRule);
}

/** Options of a stream, those about the call apart from those about its chunks. */
export interface CheckedToolStream {
  readonly call: CheckedToolCall;
  readonly resume: Resume<never, never> | undefined;
  /** Reading of the answer of an HTTP API; undefined where nothing is said of it. */
  readonly reading: CheckedReading | undefined;
}

/**
 * @param isRead - whether the answer can be read in several ways.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkToolStream(options: object, isRead: boolean): CheckedToolStream {
  const checked = readGiven('options', options, toolStreamKeys, (values, tell) => {
    scopeRule(values, tell);
    readingRule(values, tell);
  });
  const { resume, parse, events, firstContentMs, contentMs, ...call } = checked;
  const reading = { parse, events, firstContentMs, contentMs };
  const [given] = Object.entries(reading).find(([, value]) => value !== undefined) ?? [];
  if (given !== undefined && !isRead) {
    throw new RangeError(`Expected \`options.${given}\` only for a stream of \`gateway.http\``);
  }
  return { call, resume, reading: given === undefined ? undefined : reading };
}
