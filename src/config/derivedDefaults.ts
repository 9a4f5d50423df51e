import { checkPolicies } from '../policy/policies.ts';
import type { ConfigOptions } from './configTypes.ts';

/** The defaults that depend on what was set. */
export function derivedDefaults({ store, policies }: ConfigOptions): ReadonlyMap<string, unknown> {
  const { maxAttempts, backoff } = checkPolicies(policies).presets.toolCall.retry;
  return new Map<string, unknown>([
    ['control', store !== undefined && store !== ':memory:'],
    ['toolCallRetry.maxAttempts', maxAttempts],
    ['toolCallRetry.backoffMs', backoff.kind === 'list' ? backoff.delaysMs : undefined],
  ]);
}
