import type { Fact } from '../../src/policy/facts/facts.ts';

/** A call of `kb` that passed its limit. */
export const timeout = {
  kind: 'timeout',
  message: 'boom',
  outcome: 'unknown',
  integration: 'kb',
  attempts: 1,
  retryable: true,
} as const;

/** The end of that call. */
export const timedOut: Fact = {
  type: 'call.failed',
  integration: 'kb',
  call: 'kb-1',
  failure: timeout,
  retryCount: 0,
  elapsedMs: 5,
};
