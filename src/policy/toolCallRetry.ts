import type { ErrorPattern, TextTest } from './failures/classify.ts';
import { read } from './failures/errorChain.ts';
import { boolean, duration, integer, type Given, list, test, type Values } from './options/optionKeys.ts';
import { isExpressionText } from './text/patternText.ts';
import type { RetryPolicy } from './policy.ts';
import { hasOwnAttempts } from './presetChain.ts';
import { presets } from './presets.ts';
import { readOptions } from './options/readOptions.ts';
import { show } from './text/showValue.ts';

export interface ToolCallRetry {
  readonly retry: RetryPolicy;
  /** True where somebody chose how many attempts these are. */
  readonly chosen: boolean;
  readonly patterns: readonly ErrorPattern[];
}

/** In a module also a RegExp, or what tests a text like one. */
const isPattern = (value: unknown): boolean => typeof value === 'string' || typeof read(value, 'test') === 'function';

const pattern = test<string | TextTest>('a string or a regular expression', isPattern, { textInFiles: true });

/** The options of the retries of tool calls. */
export const toolCallRetryKeys = {
  /** Without it a call is made once; a session goes on after a failed call in any case. @defaultValue true */
  enabled: boolean({ default: true, help: 'Without it a call is made once.' }),
  /**
   * Attempts in all, the first included. At least 1. Given here it holds whatever the preset of an integration says, but not above the
   * `maxAttempts` that an integration was given itself. @defaultValue 3, or less where the integration's preset has less
   */
  maxAttempts: integer({
    inherited: presets.toolCall.retry.maxAttempts,
    help: 'Attempts in all of a call by a session, the first included; a lower `maxAttempts` of its integration holds, a higher one does not.',
  }),
  /** Wait before the second attempt, the third …, in ms; the last repeats. At least one. @defaultValue [100, 500, 2000] */
  backoffMs: list(duration(), {
    least: 1,
    expected: 'a list of at least one wait (ms, or text such as 30s)',
    inherited: [100, 500, 2000],
    help: 'Wait before the second attempt, the third …; the last repeats. It holds in place of the `backoff` of the integration.',
  }),
  /**
   * Texts, in any case, of errors that are worth another attempt, besides those that are known; what is permanent wins. In a file a text may
   * as well be the source of a regular expression, in code that is a RegExp or what `readPattern` makes of it.
   */
  transientPatterns: list(pattern, {
    given: {} as readonly (string | TextTest)[],
    expected: 'a list of strings',
    default: [],
    help: 'Errors worth another attempt, besides those that are known: texts in any case, or regular expressions in RE2 syntax.',
  }),
};

/** Rules for trying sessions' tool calls again; the keys are those of `gateway.toolCallRetry` in an `openclaw.json`. */
export interface ToolCallRetryOptions extends Given<typeof toolCallRetryKeys> {}

/**
 * @param base - the preset `toolCall`, for what the options do not say.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkToolCallRetry(
  options: ToolCallRetryOptions = {},
  base: RetryPolicy = presets.toolCall.retry,
): ToolCallRetry {
  return toolCallRetryFrom(readOptions('toolCallRetry', options, toolCallRetryKeys), base);
}

/** The same of what was read. */
export function toolCallRetryFrom(checked: Values<typeof toolCallRetryKeys>, base: RetryPolicy): ToolCallRetry {
  const { enabled, maxAttempts = base.maxAttempts, backoffMs: delaysMs, transientPatterns } = checked;
  transientPatterns.forEach(refuseExpressionText);
  const backoff =
    delaysMs === undefined ? base.backoff : { kind: 'list' as const, delaysMs, jitter: base.backoff.jitter };
  return {
    retry: { ...base, maxAttempts: enabled ? maxAttempts : 1, backoff },
    chosen: checked.maxAttempts !== undefined || hasOwnAttempts(base),
    patterns: transientPatterns.map((each) => ({ pattern: each, kind: 'transient' })),
  };
}

/** Taken for a text it would never be found; compiled as it is, it could stop the process. */
function refuseExpressionText(given: string | TextTest, index: number): void {
  if (typeof given !== 'string' || !isExpressionText(given)) return;
  const name = `toolCallRetry.transientPatterns[${index}]`;
  const instead = 'in code, give a RegExp or what `readPattern` makes of it';
  throw new TypeError(
    `Expected \`${name}\` not to be a regular expression in a string, got ${show(given)}; ${instead}`,
  );
}
