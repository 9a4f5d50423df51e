import type { ErrorPattern } from './classify.ts';
import { checkBoolean, checkDuration, checkInteger, checkKeys, checkTexts, show } from './options.ts';
import type { RetryPolicy } from './policy.ts';
import { presets } from './presets.ts';

/** How sessions' tool calls are tried again; the keys are those of `gateway.toolCallRetry` in an `openclaw.json`. */
export interface ToolCallRetryOptions {
  /** Without it a call is made once; a session goes on after a failed call in any case. @defaultValue true */
  readonly enabled?: boolean | undefined;
  /** Attempts in all, the first included. At least 1. @defaultValue 3 */
  readonly maxAttempts?: number | undefined;
  /** Wait before the second attempt, the third …, in ms; the last repeats. At least one. @defaultValue [100, 500, 2000] */
  readonly backoffMs?: readonly number[] | undefined;
  /** Texts, in any case, of errors that are worth another attempt, besides those that are known; what is permanent wins. */
  readonly transientPatterns?: readonly string[] | undefined;
}

export interface ToolCallRetry {
  readonly retry: RetryPolicy;
  readonly patterns: readonly ErrorPattern[];
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkToolCallRetry(options: ToolCallRetryOptions = {}): ToolCallRetry {
  checkKeys('toolCallRetry', options, ['enabled', 'maxAttempts', 'backoffMs', 'transientPatterns']);
  const enabled = checkBoolean('toolCallRetry.enabled', options.enabled ?? true);
  const maxAttempts = checkInteger('toolCallRetry.maxAttempts', options.maxAttempts ?? 3);
  const texts = checkTexts('toolCallRetry.transientPatterns', options.transientPatterns ?? []);
  const base = presets.toolCall.retry;
  const backoff =
    options.backoffMs === undefined
      ? base.backoff
      : { ...base.backoff, backoff: { kind: 'list' as const, delaysMs: checkDelays(options.backoffMs) } };
  return {
    retry: { ...base, maxAttempts: enabled ? maxAttempts : 1, backoff },
    patterns: texts.map((pattern) => ({ pattern, kind: 'transient' })),
  };
}

function checkDelays(delays: unknown): readonly number[] {
  if (!Array.isArray(delays) || delays.length === 0) {
    throw new TypeError(`Expected \`toolCallRetry.backoffMs\` to be a list of waits in ms, got ${show(delays)}`);
  }
  return delays.map((delay, index) => checkDuration(`toolCallRetry.backoffMs[${index}]`, delay));
}
