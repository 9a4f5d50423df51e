import { superviseAgent } from './agents/agent.ts';
import { superviseCodex } from './agents/codex.ts';
import type { CallPath } from './calls/callPath.ts';
import { Integration } from './calls/integration.ts';
import type { GatewayParts } from './gatewayParts.ts';
import type { FunctionOptions, Gateway, ToolRequest } from './gatewayTypes.ts';
import { superviseMcp } from './mcpServer.ts';
import { type Effect, effects } from './policy/effects.ts';
import { checkFunction, checkKeys, checkObject, checkOneOf } from './policy/options.ts';
import type { Policies } from './policy/policies.ts';
import type { Tools } from './policy/toolOptions.ts';
import { superviseSubprocess } from './subprocess.ts';
import { superviseIntegration } from './superviseIntegration.ts';
import type { ToolTarget } from './toolPort.ts';
import { superviseWorkflow } from './workflow/workflow.ts';

type Declaring = Pick<Gateway, 'integration' | 'mcpServer' | 'subprocess' | 'codex' | 'agent' | 'workflow'>;

/** How what can be called is declared: functions, servers, commands, agents and workflows. */
export function gatewayIntegrations(parts: GatewayParts): Declaring {
  const { checked, owner, runtime, paths, serving, targets, agents, workflows, declare } = parts;
  const { policies } = runtime;

  function add<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    toolName?: (input: I) => string,
  ): Integration<I, O> {
    register(path, { effect, tools }, request);
    const toolOf = toolName === undefined || tools.size === 0 ? undefined : (input: I) => tools.get(toolName(input));
    return new Integration(path, effect, toolOf);
  }

  function register<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    behind?: ToolTarget['behind'],
  ): void {
    paths.set(path.name, path);
    targets.set(path.name, { path: path as CallPath<unknown, unknown>, effect, tools, request, behind });
  }

  return {
    integration(name, functionOptions, operation) {
      declare(name);
      if (typeof functionOptions === 'function') {
        throw new TypeError(`Expected options of \`${name}\` before its operation ({} for none), got a function`);
      }
      checkKeys(name, functionOptions, ['policy', 'effect', 'tools']);
      const about = aboutTools(policies, name, functionOptions);
      policies.refuseAbout(name, 'a function', ['whenAlive']);
      checkFunction(`${name}.operation`, operation);
      const policy = policies.policyOf(name, functionOptions.policy, 'sdk');
      const toolOf = (input: unknown): string | undefined => (input as Partial<ToolRequest> | null | undefined)?.tool;
      const path = superviseIntegration(runtime, { name, about: { type: 'function' }, policy, operation, toolOf });
      return add(
        path,
        about,
        (tool, input): ToolRequest => ({ tool, input }),
        (input) => toolOf(input) ?? '',
      );
    },
    mcpServer(name, mcpOptions) {
      declare(name);
      checkObject(name, mcpOptions);
      const { effect, tools: declared } = aboutTools(policies, name, mcpOptions);
      const { integration, path, tools, behind } = superviseMcp(runtime, name, { ...mcpOptions, effect }, declared);
      const request = (tool: string, input: unknown): object => ({ name: tool, arguments: input ?? {} });
      register(path, { effect, tools }, request, behind);
      return integration;
    },
    subprocess(name, subprocessOptions) {
      declare(name);
      const about = aboutTools(policies, name, {});
      policies.refuseAbout(name, 'a command', ['whenAlive']);
      const path = superviseSubprocess(runtime, name, subprocessOptions);
      return add(path, about, (_tool, input) => input ?? {});
    },
    codex(name, codexOptions = {}) {
      declare(name);
      policies.refuseAbout(name, 'Codex', ['tools', 'whenAlive']);
      const about = { isRunning: () => owner.running, logger: checked.logger };
      const { codex, path } = superviseCodex(runtime, name, codexOptions, about);
      paths.set(name, path);
      return codex;
    },
    agent(name, agentOptions) {
      declare(name);
      policies.refuseAbout(name, 'an agent', ['tools', 'whenAlive']);
      const { agent, path } = superviseAgent(runtime, name, agentOptions, () => owner.running);
      paths.set(name, path);
      agents.add(agent);
      return agent;
    },
    workflow(name, workflowOptions) {
      declare(name);
      if (workflows.has(name)) throw new RangeError(`The name \`${name}\` is taken by another workflow`);
      const redact = checked.redactAnswer;
      const about = { isRunning: () => owner.running, isStopped: () => owner.stopped, declare, redact };
      const supervised = superviseWorkflow(runtime, name, workflowOptions, about);
      for (const path of supervised.paths) {
        paths.set(path.name, path);
        serving.add(path.name);
      }
      workflows.set(name, supervised);
      return supervised.workflow;
    },
  };
}

interface AboutTools {
  readonly effect: Effect | undefined;
  readonly tools: Tools;
}

/** What an integration says about its calls, and what is configured for it; checked before anything of it is started. */
function aboutTools(
  policies: Policies,
  name: string,
  { effect, tools }: Pick<FunctionOptions, 'effect' | 'tools'>,
): AboutTools {
  if (effect !== undefined) checkOneOf(`${name}.effect`, effect, effects);
  return { effect: policies.effectOf(name, effect), tools: policies.toolsOf(name, tools) };
}
