import { boundRule, type ProbePort } from '../calls/boundRule.ts';
import type { CallSettings } from '../calls/callSettings.ts';
import type { Failure, Outcome } from '../policy/failure.ts';
import { type ReconcileOptions, reconcileRuleOf } from '../policy/reconcileRule.ts';
import type { Reconciler } from '../policy/reconciler.ts';
import { type KnownTool, toolLimits, type Tools, type ToolSettings } from '../policy/toolOptions.ts';
import type { ToolForms } from './requestForms.ts';
import type { ToolTarget } from './sessionTools.ts';

/**
 * The tools of an integration with their rules bound to it. A tool without one of its own has that of the integration.
 * @throws RangeError that names the rule which its kind of integration cannot follow, or which asks a tool that is not read-only.
 */
export function reconciledTools(
  name: string,
  tools: ReadonlyMap<string, ToolSettings>,
  ofAll: ReconcileOptions | undefined,
  forms: ToolForms,
  port: ProbePort,
): Tools {
  const bind = (option: string, given: ReconcileOptions): Reconciler => {
    const rule = reconcileRuleOf(given);
    if (rule.kind === 'tool' && (rule.integration ?? name) === name)
      refuseChanging(option, rule.tool, tools.get(rule.tool));
    return boundRule(option, rule, forms, port);
  };
  const bound = new Map<string, KnownTool>();
  for (const [tool, settings] of tools) {
    const { reconcile } = settings;
    bound.set(
      tool,
      reconcile === undefined
        ? settings
        : { ...settings, reconciler: bind(`${name}.tools.${tool}.reconcile`, reconcile) },
    );
  }
  const usual = ofAll === undefined ? undefined : bind(`${name}.reconcile`, ofAll);
  if (usual === undefined) return bound;
  return {
    get(tool) {
      const own = bound.get(tool);
      return own?.reconciler === undefined ? { ...own, reconciler: usual } : own;
    },
    size: bound.size + 1,
  };
}

function refuseChanging(option: string, tool: string, settings: ToolSettings | undefined): void {
  const effect = settings?.effect;
  if (effect === undefined || effect === 'readOnly') return;
  throw new RangeError(`Expected \`${option}.tool\` to be a tool that is readOnly, got ${tool}, which is ${effect}`);
}

/** How rules reach the tools of a gateway. */
export function probePort(targets: ReadonlyMap<string, ToolTarget>): ProbePort {
  return {
    call(integration, tool, input, { signal, timeoutMs }) {
      const target = targets.get(integration);
      if (target === undefined) return Promise.resolve(unknownTarget(integration));
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
      };
      return new Promise((resolve) => {
        path.start(target.request(tool, input), settings, resolve);
      });
    },
    read: (integration, answer) => targets.get(integration)?.forms.read(answer),
    effect(integration, tool, input) {
      const target = targets.get(integration);
      const own = target?.tools.get(tool);
      return own?.effect ?? target?.effectOf?.(input) ?? own?.learnedEffect?.() ?? target?.effect;
    },
  };
}

function unknownTarget(integration: string): Outcome<unknown> {
  const failure: Failure = {
    kind: 'permanent',
    reason: 'not_found',
    message: `There is no integration ${integration}`,
    outcome: 'not_started',
    integration,
    attempts: 0,
    retryable: false,
  };
  return { ok: false, failure };
}
