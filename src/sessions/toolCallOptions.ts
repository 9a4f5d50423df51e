import { scopeKeys, scopeRule } from '../calls/callOptions.ts';
import { effects } from '../policy/effects.ts';
import { boolean, callback, choice, duration, type Given, signal, type GivenValues } from '../policy/optionKeys.ts';
import type { Resume } from '../streams/chunkRelay.ts';
import { type CheckedReading, readingKeys, readingRule } from '../streams/httpReading.ts';
import { readGiven } from '../policy/readOptions.ts';

const toolCallKeys = {
  /** Calls of one scope of an integration run one at a time, those of other sessions included; a second one is refused. @defaultValue none */
  scope: scopeKeys.scope,
  /** Ends the call that holds the scope instead of being refused; only with `scope`. @defaultValue false */
  replace: scopeKeys.replace,
  /** Effect that the call may have on the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  effect: choice(effects),
  /**
   * Declares the call long-running: its own limit, in ms above 0, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  longRunningMs: duration(),
  /**
   * Keeps a message that is delivered again from making the call again where it took effect, or may have: it is answered with what an equal call of the
   * earlier delivery was. Calls that change nothing, or nothing more, are made again. With a reconcile rule it is always so. @defaultValue false
   */
  once: boolean(),
  /** Cancels the call when aborted. @defaultValue the turn’s alone */
  signal,
};

/** Options of one tool call of a turn. */
export interface ToolCallOptions extends Given<typeof toolCallKeys> {}

const toolStreamKeys = { ...toolCallKeys, ...readingKeys, resume: callback<Resume<never, never>>() };

/** {@link ToolCallOptions}, checked; limits in ms. */
export type CheckedToolCall = GivenValues<typeof toolCallKeys>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolCall(options: ToolCallOptions): CheckedToolCall {
  return readGiven('options', options, toolCallKeys, scopeRule);
}

/** Options of a stream, those about the call apart from those about its chunks. */
interface CheckedToolStream {
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
