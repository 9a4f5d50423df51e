import { checkScope } from '../calls/integration.ts';
import { type Effect, effects } from '../policy/effects.ts';
import { checkDuration, checkKeys, checkOneOf } from '../policy/options.ts';

export interface ToolCallOptions {
  /** What the call may do to the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  readonly effect?: Effect | undefined;
  /**
   * Declares the call long-running: its own limit in ms, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  readonly longRunningMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Calls of one scope of an integration run one at a time, those of other sessions included; a second one is refused. @defaultValue none */
  readonly scope?: string | undefined;
  /** Ends the call that holds the scope instead of being refused; only with `scope`. @defaultValue false */
  readonly replace?: boolean | undefined;
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolCall(options: ToolCallOptions): void {
  checkKeys('options', options, ['effect', 'longRunningMs', 'signal', 'scope', 'replace']);
  const { effect, longRunningMs, signal } = options;
  checkScope(options);
  if (effect !== undefined) checkOneOf('options.effect', effect, effects);
  if (longRunningMs !== undefined) checkDuration('options.longRunningMs', longRunningMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('Expected `options.signal` to be an AbortSignal');
  }
}
