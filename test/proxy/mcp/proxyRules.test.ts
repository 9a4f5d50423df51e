import { expect, it } from 'vitest';
import { ProxyRules } from '../../../proxy/mcp/proxyRules.ts';
import type { ProxyScope } from '../../../proxy/mcp/proxyScope.ts';
import type { ProbePort } from '../../../src/calls/reconcile/boundRule.ts';

/** The limits that a question of a rule is asked with. */
function limitsOf(overallMs: number, timeoutMs: number): { overallMs: number; ownLimits: { overallMs: number } } {
  let port: ProbePort | undefined;
  const asked: unknown[] = [];
  const limits = { overallMs, attemptMs: overallMs, idleMs: overallMs };
  const scope = {
    settings: {
      toolsBy: (given: ProbePort) => {
        port = given;
        return { get: () => undefined };
      },
      limitsOf: () => limits,
      policy: { retry: { maxAttempts: 4 } },
    },
    record: { requestParams: {} },
    clock: { now: () => 0 },
    name: 'bank',
    nextId: () => 1,
  } as unknown as ProxyScope;
  const path = { start: (_call: unknown, settings: unknown) => asked.push(settings) } as never;
  void new ProxyRules(scope, () => ({ path, givenUp: () => undefined }));
  void port?.call('bank', 'list', {}, { timeoutMs, signal: new AbortController().signal });
  return asked[0] as { overallMs: number; ownLimits: { overallMs: number } };
}

it('[R-16] [P-3] a question of a rule takes no longer than the rule or its tool may take, and says which it was', () => {
  expect(limitsOf(60_000, 5000)).toMatchObject({ overallMs: 5000, ownLimits: { overallMs: 60_000 } });
  expect(limitsOf(2000, 5000)).toMatchObject({ overallMs: 2000, ownLimits: { overallMs: 2000 } });
});
