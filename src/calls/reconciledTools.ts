import { type ReconcileOptions, reconcileRuleOf } from '../policy/reconcileRule.ts';
import type { Reconciler } from '../policy/reconciler.ts';
import type { KnownTool, Tools, ToolSettings } from '../policy/toolOptions.ts';
import { boundRule, type ProbePort, type RequestForms } from './boundRule.ts';

/**
 * The tools of an integration with their rules bound to it. A tool without one of its own has that of the integration.
 * @throws RangeError that names the rule which its kind of integration cannot follow, or which asks a tool that is not read-only.
 */
export function reconciledTools(
  name: string,
  tools: ReadonlyMap<string, ToolSettings>,
  ofAll: ReconcileOptions | undefined,
  forms: RequestForms,
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
