import { rateOptionKeys, type RateOptions, ratePartsOf } from '../calls/rateOptions.ts';
import type { CallPath } from '../calls/callPath.ts';
import { CallableIntegration, type Integration } from '../calls/integration.ts';
import type { GatewayScope } from './gatewayScope.ts';
import type { FunctionOptions, Gateway } from './gatewayTypes.ts';
import type { ToolRequest } from '../sessions/toolRequest.ts';
import { superviseHttp } from '../integrations/http/http.ts';
import { CallableHttp } from '../integrations/http/httpIntegration.ts';
import { httpKeys } from '../integrations/http/httpOptions.ts';
import { effectOfRequest } from '../integrations/http/httpRequest.ts';
import { refusedStream } from '../integrations/http/refusedStream.ts';
import { mcpKeysFor, superviseMcp } from '../integrations/mcp/mcpServer.ts';
import { type Effect, effects } from '../policy/effects.ts';
import { callback, choice, type KeysOf, section } from '../policy/optionKeys.ts';
import { policyKey } from '../policy/policyInput.ts';
import { readGiven, readValue } from '../policy/readOptions.ts';
import { toolsKey } from '../policy/toolOptions.ts';
import type { Policies } from '../policy/policies.ts';
import type { Tools } from '../policy/toolOptions.ts';
import { superviseSubprocess } from '../integrations/subprocess/subprocess.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
import type { ChunkOf } from '../streams/chunkSource.ts';
import type { ToolTarget } from './sessionTools.ts';

type Declaring = Pick<Gateway, 'integration' | 'http' | 'mcpServer' | 'subprocess'>;

/** How what can be called is declared: functions, HTTP APIs, servers and commands. */
export function gatewayIntegrations({ registry, targets }: GatewayScope): Declaring {
  const { runtime } = registry;
  const { policies } = runtime;
  const declare = (name: string): void => registry.declare(name);

  function add<I, O, C = ChunkOf<O>>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    toolName?: (input: I) => string,
  ): Integration<I, O, C> {
    register(path, { effect, tools }, request);
    const toolOf = toolName === undefined || tools.size === 0 ? undefined : (input: I) => tools.get(toolName(input));
    return new CallableIntegration(path, effect, toolOf);
  }

  function register<I, O>(
    path: CallPath<I, O>,
    { effect, tools }: AboutTools,
    request: ToolTarget['request'],
    more: Pick<ToolTarget, 'behind' | 'effectOf' | 'streamedBy'> = {},
  ): void {
    targets.set(path.name, { path: path as CallPath<unknown, unknown>, effect, tools, request, ...more });
  }

  return {
    integration(name, functionOptions, operation) {
      declare(name);
      if (typeof functionOptions === 'function') {
        throw new TypeError(`Expected options of \`${name}\` before its operation ({} for none), got a function`);
      }
      const options = readGiven(name, functionOptions, functionKeys);
      const about = aboutTools(policies, name, options);
      policies.refuseAbout(name, 'a function', ['whenAlive']);
      readValue(`${name}.operation`, operation, callback({ required: true }));
      const rate = ratePartsOf<unknown>(options.policy, options.rate as RateOptions<unknown> | undefined);
      const policy = policies.policyOf(name, rate.policy, 'sdk');
      const toolOf = (input: unknown): string | undefined => (input as Partial<ToolRequest> | null | undefined)?.tool;
      const path = superviseIntegration(runtime, {
        name,
        about: { type: 'function' },
        policy,
        operation,
        streamed: refusedStream(operation, runtime.clock),
        toolOf,
        rate: rate.functions,
      });
      return add(
        path,
        about,
        (tool, input): ToolRequest => ({ tool, input }),
        (input) => toolOf(input) ?? '',
      );
    },
    http(name, httpOptions) {
      declare(name);
      const { effect: declared } = readGiven(name, httpOptions, httpKeys);
      const { effect, tools } = aboutTools(policies, name, { effect: declared });
      policies.refuseAbout(name, 'an HTTP API', ['whenAlive']);
      const { path, streamedBy } = superviseHttp(runtime, name, httpOptions);
      register(path, { effect, tools }, (_tool, input) => input ?? {}, {
        effectOf: effectOfRequest,
        streamedBy: streamedBy as ToolTarget['streamedBy'],
      });
      return new CallableHttp(path, effect, streamedBy);
    },
    mcpServer(name, mcpOptions) {
      declare(name);
      readGiven(name, mcpOptions, mcpKeysFor(mcpOptions));
      const { effect, tools: declared } = aboutTools(policies, name, mcpOptions);
      const { integration, path, tools, behind } = superviseMcp(runtime, name, { ...mcpOptions, effect }, declared);
      const request = (tool: string, input: unknown): object => ({ name: tool, arguments: input ?? {} });
      register(path, { effect, tools }, request, { behind });
      return integration;
    },
    subprocess(name, subprocessOptions) {
      declare(name);
      const about = aboutTools(policies, name, {});
      policies.refuseAbout(name, 'a command', ['whenAlive']);
      const path = superviseSubprocess(runtime, name, subprocessOptions);
      return add(path, about, (_tool, input) => input ?? {});
    },
  };
}

const functionKeys = {
  policy: policyKey,
  effect: choice(effects),
  tools: toolsKey,
  rate: section(rateOptionKeys<never>()),
} satisfies KeysOf<FunctionOptions>;

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
  return {
    effect: policies.effectOf(name, effect),
    tools: policies.toolsOf(name, tools),
  };
}
