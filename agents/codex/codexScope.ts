import type { Logger } from '../../src/policy/logger.ts';
import type { IntegrationPolicy } from '../../src/policy/policy.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { checkCodexOptions, type CodexOptions, type CodexSettings } from './codexOptions.ts';

/** Scope that all parts of one Codex share: its processes, its calls, its threads. */
export interface CodexScope {
  readonly runtime: Runtime;
  /** Name of the integration. */
  readonly name: string;
  readonly settings: CodexSettings;
  readonly policy: IntegrationPolicy;
  /** Logger of its diagnostics. */
  readonly logger: Logger | undefined;
}

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function codexScope(
  runtime: Runtime,
  name: string,
  options: CodexOptions,
  logger: Logger | undefined,
): CodexScope {
  const settings = checkCodexOptions(name, options, runtime.environment);
  const base = runtime.policies.policyOf(name, settings.policy, 'codex');
  // Letting go of a turn takes up to its limit, ending its commands up to theirs; only then is it one that would not end.
  const policy = { ...base, abortGraceMs: Math.max(base.abortGraceMs, settings.interruptMs + 5000) };
  return { runtime, name, settings, policy, logger };
}
