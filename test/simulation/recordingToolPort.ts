import { functionForms } from '../../src/calls/reconcile/requestForms.ts';
import type { CallPath } from '../../src/calls/callPath.ts';
import { checkToolCallRetry } from '../../src/policy/toolCallRetry.ts';
import { type ToolPort, createToolPort, type ToolTarget } from '../../src/sessions/toolPort.ts';
import type { Request } from './simulatedIntegration.ts';
import type { ToolRow } from './simulatedSession.ts';
import type { World } from './world.ts';

/** The tool port of a gateway, with a row for each call that goes through it. A tool's name is its call's label. */
export function recordingToolPort(world: World): ToolPort {
  const targets = new Map(
    world.integrations.map(({ name, path }): [string, ToolTarget] => [
      name,
      {
        path: path as CallPath<unknown, unknown>,
        effect: undefined,
        forms: functionForms,
        tools: new Map(),
        request: (_tool, input) => input,
      },
    ]),
  );
  const toolCallRetry = checkToolCallRetry();
  const port = createToolPort(targets, toolCallRetry, world.clock);
  return {
    isRead: (integration) => port.isRead(integration),
    longRunningMs: (integration, tool) => port.longRunningMs(integration, tool),
    effect: (integration, tool, input) => port.effect(integration, tool, input),
    repeatRule: (integration, tool) => port.repeatRule(integration, tool),
    why: (integration) => port.why(integration),
    ruleOf: (...call) => port.ruleOf(...call),
    canRecover: (call) => port.canRecover(call),
    recover: (...call) => port.recover(...call),
    joins: (...call) => port.joins(...call),
    keeps: (session) => port.keeps(session),
    keptWhy: (session) => port.keptWhy(session),
    restoreKept: (...row) => port.restoreKept(...row),
    call: (integration, tool, input, options, settled) => {
      const target = world.integration(integration);
      if (target === undefined) return port.call(integration, tool, input, options, settled);
      const { idleMs, attemptMs, overallMs } = target.policy.limits;
      const limits = options.longRunning
        ? { idleMs, attemptMs: options.overallMs, overallMs: options.overallMs }
        : { idleMs, attemptMs, overallMs: Math.min(overallMs, options.overallMs) };
      const row = target.accept({
        label: tool,
        limits,
        ownLimits: target.policy.limits,
        dueAt: world.clock.now() + limits.overallMs,
        maxAttempts: toolCallRetry.retry.maxAttempts,
        effect: options.effect,
        signal: options.signal,
        ofSession: true,
      });
      (input as ToolRow).call = row;
      const request: Request = { row };
      return port.call(integration, tool, request, options, (outcome, attempts) => {
        target.settle(row, outcome);
        settled(outcome, attempts);
      });
    },
  };
}
