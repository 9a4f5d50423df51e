import type { CallSettings } from './calls/call.ts';
import type { CallPath } from './calls/callPath.ts';
import type { Effect } from './policy/effects.ts';
import type { Limits, RetryPolicy } from './policy/policy.ts';
import type { ToolPort } from './sessions/turn.ts';

/** What a tool says about itself. */
export interface ToolOptions {
  /** What its calls may do to the world. @defaultValue that of the integration */
  readonly effect?: Effect | undefined;
  /** Its own limits, in ms. @defaultValue those of the integration */
  readonly idleMs?: number | undefined;
  readonly attemptMs?: number | undefined;
  /** Declares the tool long-running: its own overall limit in ms, in place of the session's watchdog limit. */
  readonly longRunningMs?: number | undefined;
}

/** An integration as sessions see it. */
export interface ToolTarget {
  readonly path: CallPath<unknown, unknown>;
  readonly effect: Effect | undefined;
  readonly tools: Readonly<Record<string, ToolOptions>>;
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
      const own = target.tools[tool] ?? {};
      const settings: CallSettings<unknown, unknown> = {
        ...limitsOf(target.path.policy.limits, own, options),
        retry,
        effect: options.effect ?? own.effect ?? target.effect,
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
    longRunningMs: (integration, tool) => targets.get(integration)?.tools[tool]?.longRunningMs,
  };
}

function limitsOf(limits: Limits, own: ToolOptions, call: { overallMs: number; longRunning: boolean }): Limits {
  const idleMs = own.idleMs ?? limits.idleMs;
  if (call.longRunning) return { idleMs, attemptMs: call.overallMs, overallMs: call.overallMs };
  return {
    idleMs,
    attemptMs: own.attemptMs ?? limits.attemptMs,
    overallMs: Math.min(limits.overallMs, call.overallMs),
  };
}
