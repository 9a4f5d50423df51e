/**
 * The rule that opened a closed circuit, with the figures it went by.
 *
 * - `consecutive_failures`: `failures` attempts in a row failed; `limit` is the option `consecutiveFailures`.
 * - `failure_ratio`: `failures` of the last `attempts` attempts failed; `limit` is the option `failureRatio`, from 0 to 1.
 * - `quota`: a failure of the kind `quota` opens a circuit at once.
 */
export type OpeningRule =
  | { readonly name: 'consecutive_failures'; readonly failures: number; readonly limit: number }
  | { readonly name: 'failure_ratio'; readonly failures: number; readonly attempts: number; readonly limit: number }
  | { readonly name: 'quota' };

/**
 * The rule that opened a circuit: one of {@link OpeningRule}, or
 *
 * - `failed_probe`: the circuit was open, and the call that tried it failed; `first` is what opened it before that, where it is known.
 * - `isolated`: a program or a person holds it open.
 */
export type BreakerRule =
  | OpeningRule
  | { readonly name: 'failed_probe'; readonly first?: OpeningRule | undefined }
  | { readonly name: 'isolated' };

/** The rule by which a failed probe opens a circuit again. @param before - by which it was open. */
export function reopeningRule(before: BreakerRule | undefined): BreakerRule {
  const first = before?.name === 'failed_probe' ? before.first : before;
  return first === undefined || first.name === 'isolated' ? { name: 'failed_probe' } : { name: 'failed_probe', first };
}

/** The rule as a part of a sentence; it names the option that steers it. */
export function breakerRuleText(rule: BreakerRule): string {
  switch (rule.name) {
    case 'consecutive_failures':
      return `${rule.failures === 1 ? '1 attempt' : `${rule.failures} attempts in a row`} failed, consecutiveFailures ${rule.limit}`;
    case 'failure_ratio':
      return `${rule.failures} of the last ${rule.attempts} attempts failed, failureRatio ${rule.limit}`;
    case 'failed_probe':
      return `its probe failed${rule.first === undefined ? '' : `; before, ${breakerRuleText(rule.first)}`}`;
    case 'quota':
      return 'a quota opens it at once';
    case 'isolated':
      return 'held open until its release';
  }
}

/** The rule in brackets after a space; empty where it is not known. @param rule - as it was kept or told, maybe by another version. */
export function breakerRuleNote(rule: unknown): string {
  const known = readBreakerRule(rule);
  return known === undefined ? '' : ` (${breakerRuleText(known)})`;
}

/** Reads what was kept or told by another process; undefined where it is no rule that this version knows. */
export function readBreakerRule(value: unknown): BreakerRule | undefined {
  const { name, failures, attempts, limit, first } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const areNumbers = (...figures: readonly unknown[]): boolean => figures.every(Number.isFinite);
  switch (name) {
    case 'consecutive_failures':
      return areNumbers(failures, limit) ? (value as BreakerRule) : undefined;
    case 'failure_ratio':
      return areNumbers(failures, attempts, limit) ? (value as BreakerRule) : undefined;
    case 'failed_probe':
      // The rule before it is no failed probe again: that bounds how deep it goes.
      return reopeningRule(
        (first as Partial<BreakerRule> | undefined)?.name === name ? undefined : readBreakerRule(first),
      );
    case 'quota':
    case 'isolated':
      return { name };
    default:
      return undefined;
  }
}
