import type { ProbePort } from '../calls/boundRule.ts';
import type { CallSettings } from '../calls/callSettings.ts';
import type { Failure, Outcome } from '../policy/failure.ts';
import { toolLimits } from '../policy/toolOptions.ts';
import type { ToolTarget } from './sessionTools.ts';

/** Lets rules reach the tools of a gateway. */
export function probePort(targets: ReadonlyMap<string, ToolTarget>): ProbePort {
  return {
    call(integration, tool, input, { signal, timeoutMs }) {
      const target = targets.get(integration);
      if (target === undefined) return Promise.resolve(notFound(integration, `There is no integration ${integration}`));
      // Nobody has said that a tool that it does not declare only reads.
      if (target.lacks?.(tool) === true)
        return Promise.resolve(notFound(integration, `${integration} declares no tool ${tool}: it was not asked`));
      const { path, tools } = target;
      const own = tools.get(tool);
      const { retry } = path.policy;
      const ownLimits = toolLimits(path.policy.limits, own);
      const settings: CallSettings<unknown, unknown> = {
        ...ownLimits,
        // A rule whose time was too short says nothing about the integration.
        ownLimits,
        overallMs: Math.min(ownLimits.overallMs, timeoutMs),
        // A rule that got no answer asks again by itself.
        retry: { ...retry, maxAttempts: 1 },
        effect: 'readOnly',
        label: tool,
        session: undefined,
        signal,
        fallback: undefined,
        underWay: true,
        isQuestion: true,
      };
      return new Promise((resolve) => {
        path.start(target.request(tool, input), settings, resolve);
      });
    },
    read: (integration, answer) => targets.get(integration)?.forms.read(answer),
    beside: (integration, answer) => targets.get(integration)?.forms.beside?.(answer),
    effect(integration, tool, input) {
      const target = targets.get(integration);
      const own = target?.tools.get(tool);
      return own?.effect ?? target?.effectOf?.(input) ?? own?.learnedEffect?.() ?? target?.effect;
    },
  };
}

function notFound(integration: string, message: string): Outcome<unknown> {
  const failure: Failure = {
    kind: 'permanent',
    reason: 'not_found',
    message,
    outcome: 'not_started',
    integration,
    attempts: 0,
    retryable: false,
  };
  return { ok: false, failure };
}
