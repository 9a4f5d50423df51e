import { superviseAcpProxy } from '../../../proxy/acp/acpProxy.ts';
import type { AcpProxy } from '../../../proxy/acp/acpProxy.ts';
import { safeEnvironment } from '../../../src/actors/process/face.ts';
import { isRetried, refusal } from '../../../src/calls/face.ts';
import { type Approver, permissionOfTool, superviseApproval } from '../../../src/integrations/approvals/face.ts';
import { inTime } from '../../../src/policy/face.ts';
import { AttemptError, type Failure, type Outcome, classify, isRetryable } from '../../../src/policy/failures/face.ts';
import { type AgentProfile, agentOf, repeatsItself } from '../../../src/protocol/face.ts';
import { waysBack } from '../../../src/protocol/acp/face.ts';
import { type McpAnswer, type McpParams, fieldsOf } from '../../../src/protocol/mcp/face.ts';
import { createTextRedactor } from '../../../src/redaction/face.ts';
import type { Runtime } from '../../../src/runtime/face.ts';
import type { AgentBackend, BackendConversation, TurnOptions } from '../agentBackend.ts';
import type { Sink } from '../agentStream.ts';
import type { AgentOptions, AgentResult } from '../agentTypes.ts';
import { checkAcpBackend } from './acpBackendOptions.ts';
import { AcpClient } from './acpClient.ts';
import { AcpTurnEvents, namesOf } from './acpEvents.ts';

/** Parts that all conversations of one agent share. */
interface AcpAgentScope {
  readonly name: string;
  readonly runtime: Runtime;
  readonly client: AcpClient;
  readonly proxy: AcpProxy;
  readonly approver: Approver | undefined;
  /** Facts about the agent, where its command is known. */
  readonly profile: Pick<AgentProfile, 'retries'> | undefined;
}

/**
 * Any agent that speaks the Agent Client Protocol: one process for all conversations, each a session of it, behind the proxy of `unwedge acp`.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseAcpAgent(runtime: Runtime, name: string, options: AgentOptions): AgentBackend {
  const { mcpServers, ...settings } = checkAcpBackend(`${name}.acp`, options.acp);
  const { cwd, policy, approve, approvalMs } = options;
  const spinning = runtime.policies.spinningOf(name, options.spinning);
  const client = new AcpClient();
  const redactor = createTextRedactor(runtime.secrets);
  const isSafe = (options.envMode ?? runtime.environment) === 'safe';
  const env = Object.fromEntries(
    Object.entries(options.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const proxy = superviseAcpProxy(
    runtime,
    { name, policy, spinning, cwd, ...settings, env, ...(isSafe && { envAllow: Object.keys(safeEnvironment()) }) },
    {
      ...{ input: client.input, output: client.output, hide: (text: string) => redactor.text(text) },
      errors: () => undefined,
      say: (line) => runtime.logger?.warn(line),
    },
  );
  const approver =
    approve === undefined && runtime.inbox === undefined
      ? undefined
      : superviseApproval(runtime, `agent:${name}`, approve, { overallMs: approvalMs }, permissionOfTool);
  const profile = agentOf(settings.command, settings.args, runtime.agentProfiles);
  const scope: AcpAgentScope = { name, runtime, client, proxy, approver, profile };

  return {
    name: 'acp',
    async open(id, { signal }) {
      const opening = { cwd: cwd ?? process.cwd(), mcpServers };
      try {
        const opened = client.open((initialized) => {
          if (id === undefined) return { method: 'session/new', params: opening };
          const [way] = waysBack(initialized);
          if (way === undefined) throw new AttemptError(cannotResume(name));
          return { method: way, params: { ...opening, sessionId: id } };
        });
        const result = await inTime(opened, { clock: runtime.clock, signal });
        if (result === undefined) throw new AttemptError(refusal.cancelled(signal?.reason, false));
        const session = id ?? result['sessionId'];
        if (typeof session !== 'string') throw new AttemptError(noSession(name));
        if (id !== undefined) await proxy.quiet(id);
        return { ok: true, value: new AcpConversation(scope, session) };
      } catch (error) {
        return { ok: false, failure: failureOf(name, error, runtime.clock.wallNow()) };
      }
    },
    stop() {
      client.end();
      return proxy.ended;
    },
  };
}

/** A session of an agent as a conversation. */
class AcpConversation implements BackendConversation {
  readonly id: string;
  readonly #scope: AcpAgentScope;
  readonly #leave: () => void;
  #turn: { readonly events: AcpTurnEvents; readonly sink: Sink; readonly signal: AbortSignal } | undefined;
  #ending: Promise<unknown> = Promise.resolve();

  constructor(scope: AcpAgentScope, session: string) {
    this.id = session;
    this.#scope = scope;
    this.#leave = scope.client.listen(session, {
      heard: (update) => this.#turn?.events.heard(update),
      permit: (params) => this.#permit(params),
    });
  }

  async turn(prompt: string, sink: Sink, options: TurnOptions): Promise<Outcome<AgentResult>> {
    const { client, proxy } = this.#scope;
    const { signal, idleMs, overallMs, effect, label } = options;
    const events = new AcpTurnEvents(sink);
    this.#turn = { events, sink, signal };
    const interrupt = (): void => client.cancel(this.id);
    signal.addEventListener('abort', interrupt, { once: true });
    const params = { sessionId: this.id, prompt: [{ type: 'text', text: prompt }] };
    const limits = {
      ...(idleMs !== undefined && { idleMs }),
      ...(overallMs !== undefined && { overallMs, attemptMs: overallMs }),
      // The work that it is part of is what is tried again.
      ...(isRetried(signal) && { retry: { ...proxy.path.policy.retry, maxAttempts: 1 } }),
    };
    const answering = client.prompt(proxy, params, { ...limits, effect, ...(label !== undefined && { label }) });
    if (signal.aborted) interrupt();
    this.#ending = answering;
    const outcome = await answering;
    signal.removeEventListener('abort', interrupt);
    this.#turn = undefined;
    return resultOf(outcome, { events, id: this.id }, this.#scope);
  }

  async released(): Promise<void> {
    await this.#ending;
  }

  async stop(): Promise<void> {
    this.#scope.client.cancel(this.id);
    await this.#ending;
    this.#leave();
  }

  async #permit(params: McpParams): Promise<McpParams> {
    const { approver } = this.#scope;
    const turn = this.#turn;
    const call = fieldsOf(params['toolCall']);
    const { tool, action } = namesOf(call);
    const about = { id: String(call['toolCallId']), tool };
    turn?.sink({ type: 'approval.requested', ...about, action });
    const answer =
      approver === undefined
        ? { decision: 'decline' as const, reason: 'nobody is there to be asked' }
        : await approver(
            {
              action: action === '' ? tool : `${tool}: ${action}`,
              session: this.id,
              payload: { tool, input: call['rawInput'] },
            },
            { signal: turn?.signal ?? AbortSignal.abort() },
          );
    turn?.sink({ type: 'approval.resolved', ...about, decision: answer.decision, reason: answer.reason });
    return { outcome: chosen(params['options'], answer.decision) };
  }
}

/** The option of the agent that says so: for this once, where it has one. */
function chosen(options: unknown, decision: 'accept' | 'decline'): McpParams {
  const all = Array.isArray(options) ? options.map(fieldsOf) : [];
  const word = decision === 'accept' ? 'allow' : 'reject';
  const option =
    all.find(({ kind }) => kind === `${word}_once`) ?? all.find(({ kind }) => String(kind).startsWith(`${word}_`));
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option['optionId'] };
}

function resultOf(
  outcome: Outcome<McpAnswer>,
  { events, id }: { readonly events: AcpTurnEvents; readonly id: string },
  { name, profile = {} }: Pick<AcpAgentScope, 'name' | 'profile'>,
): Outcome<AgentResult> {
  if (!outcome.ok) {
    const { failure } = outcome;
    const isOpen = events.effects === 'none' && failure.outcome !== 'not_started' && !repeatsItself(profile, failure);
    return isOpen ? { ok: false, failure: openToOthers(failure) } : outcome;
  }
  const { stopReason, usage } = outcome.value.result ?? {};
  const failed = stopFailures.get(stopReason);
  const { text, effects, tools } = events;
  if (failed !== undefined) {
    const known = effects === 'none' ? failed.outcome : ('unknown' as const);
    return { ok: false, failure: { ...failed, outcome: known, integration: name, attempts: 1, retryable: false } };
  }
  const { inputTokens, outputTokens } = fieldsOf(usage);
  const told = typeof inputTokens === 'number' && typeof outputTokens === 'number';
  return {
    ok: true,
    value: {
      ...{ text, id, backend: 'acp', agent: name, effects, calls: { tools } },
      ...(told && { usage: { inputTokens, outputTokens } }),
    },
  };
}

/**
 * The failure of a turn in which nothing was done and nothing repeated: its session has the prompt, which is not sent there again, but another
 * conversation may begin anew.
 */
function openToOthers(failure: Failure): Failure {
  if (failure.shouldRetry !== false) return failure;
  const { shouldRetry: _, ...open } = failure;
  return { ...open, retryable: isRetryable(open, open.effect, 'refused') };
}

/** Ends of a turn that are no answer. */
const stopFailures: ReadonlyMap<unknown, Pick<Failure, 'kind' | 'message' | 'outcome'>> = new Map([
  ['cancelled', { kind: 'cancelled', message: 'The turn was cancelled', outcome: 'cancelled' }],
  ['max_turn_requests', { kind: 'permanent', message: 'The turn took as many requests as it may', outcome: 'failed' }],
  ['refusal', { kind: 'permanent', message: 'The agent refused to go on', outcome: 'failed' }],
] as const);

const cannotResume = (name: string) =>
  ({ kind: 'permanent', message: `${name} can load no session`, outcome: 'not_started' }) as const;

const noSession = (name: string) =>
  ({ kind: 'protocol', message: `${name} opened a session without an id`, outcome: 'not_started' }) as const;

function failureOf(integration: string, error: unknown, wallNow: number): Failure {
  const facts = classify(error, { wallNow });
  return { ...facts, integration, attempts: 0, retryable: false };
}
