import type { CallSettings } from './calls/call.ts';
import type { CallPath } from './calls/callPath.ts';
import { toolLimits, type ToolOptions, type Tools } from './calls/toolOptions.ts';
import type { Effect } from './policy/effects.ts';
import type { Limits, RetryPolicy } from './policy/policy.ts';
import type { ToolPort } from './sessions/turn.ts';

/** An integration as sessions see it. */
export interface ToolTarget {
  readonly path: CallPath<unknown, unknown>;
  readonly effect: Effect | undefined;
  readonly tools: Tools;
  /** Makes the integration's request of a tool call. */
  readonly request: (tool: string, input: unknown) => unknown;
}

/** Joins sessions to integrations. One owner retries: a session's tool call goes by `retry`, whatever its integration's policy says. */
export function createToolPort(targets: ReadonlyMap<string, ToolTarget>, retry: RetryPolicy): ToolPort {
  return {
    call(integration, tool, input, options, settled) {
      const target = targets.get(integration);
      if (target === undefined) {
        throw new RangeError(`No integration \`${integration}\`; known: ${[...targets.keys()].join(', ') || 'none'}`);
      }
      const own = target.tools.get(tool);
      const settings: CallSettings<unknown, unknown> = {
        ...limitsOf(target.path.policy.limits, own, options),
        retry: tighter(retry, target.path.policy.retry),
        effect: options.effect ?? own?.effect ?? target.effect,
        label: tool,
        session: options.session,
        signal: options.signal,
        fallback: undefined,
      };
      let attempts = (): number => 0;
      const call = target.path.start(target.request(tool, input), settings, (outcome) => settled(outcome, attempts()));
      attempts = () => call.attempts;
      return { end: (facts) => target.path.end(call, facts) };
    },
    longRunningMs: (integration, tool) => targets.get(integration)?.tools.get(tool)?.longRunningMs,
  };
}

/** The session's policy retries, within what the integration allows: one that is not to be called again is not. */
function tighter(session: RetryPolicy, integration: RetryPolicy): RetryPolicy {
  return {
    ...session,
    maxAttempts: Math.min(session.maxAttempts, integration.maxAttempts),
    retryUnspecified: session.retryUnspecified && integration.retryUnspecified,
  };
}

function limitsOf(
  limits: Limits,
  own: ToolOptions | undefined,
  call: { overallMs: number; longRunning: boolean },
): Limits {
  const { idleMs, attemptMs, overallMs } = toolLimits(limits, own);
  if (call.longRunning) return { idleMs, attemptMs: call.overallMs, overallMs: call.overallMs };
  return { idleMs, attemptMs, overallMs: Math.min(overallMs, call.overallMs) };
}
