import { type ProbePort, reconciledTools } from '../calls/reconcile/boundRule.ts';
import { namedTool } from '../calls/call.ts';
import type { CallPath } from '../calls/callPath.ts';
import type { CallSettings } from '../calls/callOptions.ts';
import { CallableIntegration, type Integration } from '../calls/integration.ts';
import { rateOptionKeys, type RateOptions, ratePartsOf } from '../calls/rates/integrationRates.ts';
import { commandForms, functionForms, httpForms, mcpForms, type ToolForms } from '../calls/reconcile/requestForms.ts';
import { superviseHttp } from '../integrations/http/http.ts';
import { CallableHttp } from '../integrations/http/httpIntegration.ts';
import { httpKeys } from '../integrations/http/httpOptions.ts';
import { effectOfRequest } from '../integrations/http/httpRequest.ts';
import { refusedStream } from '../integrations/http/fetchFailure.ts';
import { byOwnName } from '../integrations/mcp/mcpIntegration.ts';
import { mcpKeepMs, mcpKeysFor, superviseMcp } from '../integrations/mcp/mcpServer.ts';
import { superviseSubprocess } from '../integrations/subprocess/subprocess.ts';
import { subprocessKeys } from '../integrations/subprocess/subprocessOptions.ts';
import { type Effect } from '../policy/effects.ts';
import type { Failure, Outcome } from '../policy/failures/failure.ts';
import { callback, section } from '../policy/options/optionKeys.ts';
import { readGiven, readValue } from '../policy/options/readOptions.ts';
import { toolLimits, type Tools } from '../policy/toolOptions.ts';
import { ToolRules } from '../policy/toolRules.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
import type { ChunkOf } from '../streams/chunkSource.ts';
import type { GatewayScope } from './gatewayScope.ts';
import { functionKeys, type FunctionOptions, type Gateway } from './gatewayTypes.ts';
import type { ToolTarget } from '../sessions/toolPort.ts';

type Declaring = Pick<Gateway, 'integration' | 'http' | 'mcpServer' | 'subprocess'>;

/** Gives the methods that declare what can be called: functions, HTTP APIs, servers and commands. */
export function gatewayIntegrations({ registry, targets }: GatewayScope): Declaring {
  const { runtime } = registry;
  const { policies } = runtime;
  const declare = (name: string): void => registry.declare(name);
  const port = probePort(targets);

  /** Gathers what an integration says about its calls, and what is configured for it; checked before anything of it is started. */
  const aboutTools = (name: string, { effect, tools, reconcile, keepMs }: Declared, forms: ToolForms): AboutTools => ({
    keepMs: policies.keepMsOf(name) ?? keepMs,
    effect: policies.effectOf(name, effect),
    tools: reconciledTools(name, policies.toolsOf(name, tools), policies.reconcileOf(name, reconcile), forms, port),
    forms,
  });

  function add<I, O, C = ChunkOf<O>>(
    path: CallPath<I, O>,
    about: AboutTools,
    request: ToolTarget['request'],
    toolName?: (input: I) => string,
  ): Integration<I, O, C> {
    const { effect, tools } = about;
    register(path, about, request);
    const toolOf = toolName === undefined || tools.size === 0 ? undefined : (input: I) => tools.get(toolName(input));
    return new CallableIntegration(path, effect, toolOf);
  }

  function register<I, O>(
    path: CallPath<I, O>,
    about: AboutTools,
    request: ToolTarget['request'],
    more: Pick<ToolTarget, 'behind' | 'effectOf' | 'streamedBy' | 'lacks' | 'question'> = {},
  ): void {
    targets.set(path.name, { path: path as CallPath<unknown, unknown>, ...about, request, ...more });
  }

  return {
    integration(name, functionOptions, operation) {
      declare(name);
      if (typeof functionOptions === 'function') {
        throw new TypeError(`Expected options of \`${name}\` before its operation ({} for none), got a function`);
      }
      const options = readGiven(name, functionOptions, { ...functionKeys, rate: section(rateOptionKeys<never>()) });
      const about = aboutTools(name, options, functionForms);
      policies.refuseAbout(name, 'a function', ['whenAlive', 'spinning', 'allow', 'deny']);
      if (!new ToolRules(name, [], policies.toolsOf(name, options.tools)).isEmpty)
        throw new RangeError(`Expected no \`rename\` and no \`describe\` in \`${name}.tools\`: it is no MCP server`);
      readValue(`${name}.operation`, operation, callback({ required: true }));
      const rate = ratePartsOf<unknown>(options.policy, options.rate as RateOptions<unknown> | undefined);
      const policy = policies.policyOf(name, rate.policy, 'sdk');
      const path = superviseIntegration(runtime, {
        name,
        about: { type: 'function' },
        policy,
        shares: 'circuit_of_nodes',
        operation,
        streamed: refusedStream(operation, runtime.clock),
        toolOf: namedTool,
        rate: rate.functions,
      });
      return add(
        path,
        about,
        (tool, input) => ({ tool, input }),
        (input) => namedTool(input) ?? '',
      );
    },
    http(name, httpOptions) {
      declare(name);
      const { effect: declared, reconcile, keepMs } = readGiven(name, httpOptions, httpKeys);
      const about = aboutTools(name, { effect: declared, reconcile, keepMs }, httpForms);
      policies.refuseAbout(name, 'an HTTP API', ['whenAlive', 'spinning', 'allow', 'deny']);
      const { path, streamedBy } = superviseHttp(runtime, name, httpOptions);
      register(path, about, (_tool, input) => input ?? {}, {
        effectOf: effectOfRequest,
        streamedBy: streamedBy as ToolTarget['streamedBy'],
      });
      return new CallableHttp(path, about.effect, streamedBy, about.tools.get('')?.reconciler);
    },
    mcpServer(name, mcpOptions) {
      declare(name);
      const given = readGiven(name, mcpOptions, mcpKeysFor(mcpOptions));
      const { effect: declared, reconcile, keepMs = mcpKeepMs } = given;
      const about = aboutTools(name, { effect: declared, tools: mcpOptions.tools, reconcile, keepMs }, mcpForms);
      const { effect } = about;
      const table = policies.toolsOf(name, mcpOptions.tools);
      const rules = new ToolRules(name, [policies.toolRulesOf(name), given], table);
      const made = superviseMcp(runtime, name, { ...mcpOptions, effect }, about.tools, rules);
      const { integration, path, tools, behind, lacks } = made;
      const request = (tool: string, input: unknown): object => ({ name: tool, arguments: input ?? {} });
      const question = (tool: string, input: unknown): object => ({ ...request(tool, input), [byOwnName]: true });
      register(path, { ...about, tools }, request, { behind, lacks, question });
      return integration;
    },
    subprocess(name, subprocessOptions) {
      declare(name);
      const { effect, reconcile } = readGiven(name, subprocessOptions, subprocessKeys);
      const about = aboutTools(name, { effect, reconcile }, commandForms(runtime.clock));
      policies.refuseAbout(name, 'a command', ['whenAlive', 'keepMs', 'allow', 'deny']);
      const path = superviseSubprocess(runtime, name, subprocessOptions);
      return add(
        path,
        about,
        (_tool, input) => input ?? {},
        () => '',
      );
    },
  };
}

interface AboutTools {
  readonly keepMs: number | undefined;
  readonly effect: Effect | undefined;
  readonly tools: Tools;
  readonly forms: ToolForms;
}

interface Declared extends Pick<FunctionOptions, 'effect' | 'tools' | 'reconcile'> {
  readonly keepMs?: number | undefined;
}

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
        path.start((target.question ?? target.request)(tool, input), settings, resolve);
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
