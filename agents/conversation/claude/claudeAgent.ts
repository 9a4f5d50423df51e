import { safeEnvironment } from '../../../src/actors/process/face.ts';
import { type Approver, permissionOfTool, superviseApproval } from '../../../src/integrations/approvals/face.ts';
import { CallableIntegration } from '../../../src/calls/face.ts';
import type { FailureReason } from '../../../src/policy/failures/face.ts';
import { formatDuration } from '../../../src/policy/text/face.ts';
import { AgentTrail, boundedClaudeRetries, claudeRetriesName } from '../../../src/protocol/face.ts';
import { type Runtime, superviseIntegration } from '../../../src/runtime/face.ts';
import type { AgentBackend } from '../agentBackend.ts';
import type { AgentOptions, AgentResult } from '../agentTypes.ts';
import { handlerOf } from './claudeApprovals.ts';
import { checkClaudeBackend, type ClaudeSettings } from './claudeBackendOptions.ts';
import { commandQuery } from './claudeCommandQuery.ts';
import { ClaudeConversation, type TurnRequest } from './claudeConversation.ts';
import type { ClaudeScope } from './claudeRunningTurn.ts';
import { importQuery } from './claudeSdkModule.ts';
import type { TurnTrail } from './claudeTurn.ts';

/** Time in ms that the end of a process may take beyond its grace. */
const endingMs = 3000;

/**
 * Claude through its Agent SDK: each turn is a call of one integration, each conversation a process that is a temporary child of the
 * root supervisor.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseClaude(runtime: Runtime, name: string, options: AgentOptions): AgentBackend {
  const settings = checkClaudeBackend(`${name}.claude`, options.claude);
  const base = runtime.policies.policyOf(name, options.policy, 'sdk');
  const { interruptMs, graceMs } = settings;
  // Interrupting and killing take their time; only then is it a process that would not end.
  const policy = { ...base, abortGraceMs: Math.max(base.abortGraceMs, interruptMs + graceMs + endingMs) };
  const trails = new WeakMap<object, { readonly trail: TurnTrail; readonly conversation: ClaudeConversation }>();
  let lastProcess = 0;

  const path = superviseIntegration<TurnRequest, AgentResult>(runtime, {
    name,
    about: { type: 'claude', provider: 'anthropic', modelOf: () => options.model },
    policy,
    describeTimeout,
    amendTimeout(facts, context) {
      const known = trails.get(context.call);
      return known === undefined ? facts : known.conversation.amend(facts, known.trail, context);
    },
    operation({ conversation, prompt, sink, told, ear }, context) {
      const trail = trails.get(context.call)?.trail ?? {
        attempts: new AgentTrail(() => runtime.clock.wallNow()),
        heardBy: undefined,
        lastFailure: undefined,
        told,
        ear,
      };
      trails.set(context.call, { trail, conversation });
      if (context.attempt > 1) {
        const message = trail.lastFailure ?? 'it took too long';
        sink({ type: 'retrying', by: 'unwedge', attempt: context.attempt, delayMs: undefined, message });
      }
      return conversation.attempt(prompt, trail, sink, context);
    },
  });
  const integration = new CallableIntegration(path, runtime.policies.effectOf(name, undefined));
  const scope: ClaudeScope = {
    runtime,
    agent: name,
    settings,
    query: querySource(settings),
    options: () => queryOptions({ ...options, envMode: options.envMode ?? runtime.environment }, settings),
    given: { ...options.env, ...settings.env },
    approver: approverOf(runtime, name, options, settings),
    processId: () => `process:${name}:${++lastProcess}`,
  };

  return {
    name: 'claude',
    open: (id) => {
      const conversation = new ClaudeConversation(scope, (request, turn) => integration.call(request, turn), id);
      return Promise.resolve({ ok: true, value: conversation });
    },
    // Its processes end with their conversations.
    stop: () => Promise.resolve(),
  };
}

function querySource({ query, command, args = [] }: ClaudeSettings): ClaudeScope['query'] {
  if (command !== undefined) return () => Promise.resolve(commandQuery({ command, args }));
  return query === undefined ? importQuery : () => Promise.resolve(query);
}

function approverOf(
  runtime: Runtime,
  name: string,
  { approve, approvalMs }: AgentOptions,
  { canUseTool }: ClaudeSettings,
): Approver | undefined {
  const handler = canUseTool === undefined ? approve : handlerOf(canUseTool);
  if (handler === undefined && runtime.inbox === undefined) return undefined;
  return superviseApproval(runtime, `agent:${name}`, handler, { overallMs: approvalMs }, permissionOfTool);
}

/** The options of every query. One owner of retries: those inside Claude are bounded, but where the user has set them. */
function queryOptions(
  { model, cwd, env, envMode }: AgentOptions,
  { options, env: ofCommand }: ClaudeSettings,
): Record<string, unknown> {
  const bundled = options['pathToClaudeCodeExecutable'] === undefined;
  return {
    // On the command line their secrets would be there for everyone to see, and their length would count.
    ...(bundled && options['mcpServers'] !== undefined && { mcpServersDelivery: 'initialize' }),
    ...options,
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    env: {
      [claudeRetriesName]: boundedClaudeRetries,
      ...(envMode === 'safe' ? safeEnvironment() : process.env),
      ...env,
      ...ofCommand,
    },
  };
}

function describeTimeout(reason: FailureReason, limitMs: number): string {
  const limit = formatDuration(limitMs);
  return reason === 'idle_timeout' ? `Claude said nothing for ${limit}` : `Claude was not done within ${limit}`;
}
