import type { ErrorPattern, TextTest } from './classify.ts';
import { read } from './errorChain.ts';
import { checkBoolean, checkDuration, checkInteger, checkKeys, show } from './options.ts';
import { isExpressionText } from './patternText.ts';
import type { RetryPolicy } from './policy.ts';
import { hasOwnAttempts } from './policyParts.ts';
import { presets } from './presets.ts';

/** How sessions' tool calls are tried again; the keys are those of `gateway.toolCallRetry` in an `openclaw.json`. */
export interface ToolCallRetryOptions {
  /** Without it a call is made once; a session goes on after a failed call in any case. @defaultValue true */
  readonly enabled?: boolean | undefined;
  /**
   * Attempts in all, the first included. At least 1. Given here it holds whatever the preset of an integration says, but not above the
   * `maxAttempts` that an integration was given itself. @defaultValue 3, or less where the integration's preset has less
   */
  readonly maxAttempts?: number | undefined;
  /** Wait before the second attempt, the third …, in ms; the last repeats. At least one. @defaultValue [100, 500, 2000] */
  readonly backoffMs?: readonly number[] | undefined;
  /**
   * Texts, in any case, of errors that are worth another attempt, besides those that are known; what is permanent wins. In a file a text may
   * as well be the source of a regular expression, in code that is a RegExp or what `readPattern` makes of it.
   */
  readonly transientPatterns?: readonly (string | TextTest)[] | undefined;
}

export interface ToolCallRetry {
  readonly retry: RetryPolicy;
  /** Whether somebody chose how many attempts these are. */
  readonly chosen: boolean;
  readonly patterns: readonly ErrorPattern[];
}

/**
 * @param base - the preset `toolCall`, for what the options do not say.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkToolCallRetry(
  options: ToolCallRetryOptions = {},
  base: RetryPolicy = presets.toolCall.retry,
): ToolCallRetry {
  checkKeys('toolCallRetry', options, ['enabled', 'maxAttempts', 'backoffMs', 'transientPatterns']);
  const enabled = checkBoolean('toolCallRetry.enabled', options.enabled ?? true);
  const maxAttempts = checkInteger('toolCallRetry.maxAttempts', options.maxAttempts ?? base.maxAttempts);
  const patterns = checkPatterns('toolCallRetry.transientPatterns', options.transientPatterns ?? []);
  const backoff =
    options.backoffMs === undefined
      ? base.backoff
      : { ...base.backoff, backoff: { kind: 'list' as const, delaysMs: checkDelays(options.backoffMs) } };
  return {
    retry: { ...base, maxAttempts: enabled ? maxAttempts : 1, backoff },
    chosen: options.maxAttempts !== undefined || hasOwnAttempts(base),
    patterns: patterns.map((pattern) => ({ pattern, kind: 'transient' })),
  };
}

function checkPatterns(name: string, patterns: unknown): readonly (string | TextTest)[] {
  if (!Array.isArray(patterns)) throw new TypeError(`Expected \`${name}\` to be an array, got ${show(patterns)}`);
  return patterns.map((pattern: unknown, index) => checkPattern(`${name}[${index}]`, pattern));
}

function checkPattern(name: string, pattern: unknown): string | TextTest {
  if (typeof pattern === 'string') {
    if (!isExpressionText(pattern)) return pattern;
    // Taken for a text it would never be found; compiled as it is, it could stop the process.
    const instead = 'in code, give a RegExp or what `readPattern` makes of it';
    throw new TypeError(
      `Expected \`${name}\` not to be a regular expression in a string, got ${show(pattern)}; ${instead}`,
    );
  }
  if (typeof read(pattern, 'test') === 'function') return pattern as TextTest;
  throw new TypeError(`Expected \`${name}\` to be a string or a regular expression, got ${show(pattern)}`);
}

function checkDelays(delays: unknown): readonly number[] {
  if (!Array.isArray(delays) || delays.length === 0) {
    throw new TypeError(`Expected \`toolCallRetry.backoffMs\` to be a list of waits in ms, got ${show(delays)}`);
  }
  return delays.map((delay, index) => checkDuration(`toolCallRetry.backoffMs[${index}]`, delay));
}
