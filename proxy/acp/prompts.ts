import type { AttemptContext, CallPath, CallSettings } from '../../src/calls/face.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  type Outcome,
  failureKinds,
} from '../../src/policy/failures/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { HeardCalls } from '../../src/policy/spinning/face.ts';
import { AcpCalls, failureOfPrompt, sessionIn } from '../../src/protocol/acp/face.ts';
import { errorAnswer, notificationLine, rpcErrors, rpcLine } from '../../src/protocol/face.ts';
import type { McpAnswer, McpParams, McpRequest } from '../../src/protocol/mcp/face.ts';
import { answerOfFailure } from '../wire/syntheticAnswer.ts';
import type { AgentLink } from './agentLink.ts';
import type { AgentRequests } from './agentRequests.ts';
import { endLeftCommands } from './leftCommands.ts';
import { type AcpSession, Prompt, type PromptPort } from './prompt.ts';
import type { Replay } from './replay.ts';
import type { AcpScope } from './scope.ts';

/** Actions of the proxy about its prompts. */
interface PromptsHost {
  readonly path: CallPath<Prompt, McpAnswer>;
  readonly requests: AgentRequests;
  readonly replay: Replay;
  /** The agent is at a turn that has its answer, or has ended it. */
  abandonedChanged(): void;
  /** The client was given an answer of ours in place of the agent's. */
  refused(prompt: Prompt, failure: Failure): void;
  /** The client was given an answer. */
  served(): void;
  /** A prompt begins, or ends. */
  changed(): void;
}

/** Time that a prompt waits for an agent, in ms: some take 20 s to start on a busy machine (opencode 1.18). */
const startWaitMs = 60_000;

/** The prompts of the client, each a call of the integration, one at a time in each session: what an agent makes of a second one, nobody knows. */
export class Prompts {
  readonly #scope: AcpScope;
  readonly #host: PromptsHost;
  readonly #settings: CallSettings<Prompt, McpAnswer>;
  /** By the id: those that have no answer, and those that the agent is still at. */
  readonly #open = new Map<string, Prompt>();
  readonly #byCall = new WeakMap<object, Prompt>();
  /** Attempts that wait for an agent. */
  readonly #starts: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  readonly #idle: (() => void)[] = [];

  constructor(scope: AcpScope, host: PromptsHost) {
    this.#scope = scope;
    this.#host = host;
    const { limits, retry } = scope.settings.policy;
    this.#settings = {
      ...limits,
      // What the agent has begun with says so itself, whatever a policy says.
      retry: { ...retry, repeatAfter: 'broken' },
      label: 'session/prompt',
      givenUp: (prompt, facts) => this.#givenUp(prompt, facts),
    };
  }

  /** Those whose client waits. */
  *waiting(): Iterable<Prompt> {
    for (const prompt of this.#open.values()) if (!prompt.delivered) yield prompt;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Has a prompt answered, once. */
  start(request: McpRequest, line: Uint8Array, port?: PromptPort): void {
    const { sessions, clock, toClient } = this.#scope;
    const id = sessionIn(request.params);
    if (id === undefined) {
      toClient(errorAnswer(request.id, rpcErrors.invalidParams, 'Expected `sessionId` to be a string'));
      return;
    }
    const session = sessions.of(id);
    const prompt = new Prompt(request, session, line, clock.now(), port);
    this.#open.set(request.key, prompt);
    session.held.push(prompt);
    this.#next(session);
    if (session.isStale) this.#host.abandonedChanged();
  }

  /** The client wants the turn of a session ended (`session/cancel`): the agent is told, and has its time. */
  cancel(session: AcpSession): void {
    for (const prompt of session.held.splice(0)) this.#cancelled(prompt);
    if (session.active !== undefined) this.#cancel(session.active);
  }

  #cancel(prompt: Prompt): void {
    if (prompt.isCancelled) return;
    prompt.isCancelled = true;
    prompt.leftTools = prompt.turn.openTools;
    this.#host.requests.withdraw(prompt.session, false);
    if (!prompt.isAtAgent) {
      this.#endCancelled(prompt);
      return;
    }
    const { clock, settings } = this.#scope;
    prompt.cancelTimer = clock.setTimeout(() => this.#endCancelled(prompt), settings.cancelMs);
  }

  /** The client waits for one request no longer (`$/cancel_request`). @returns the session whose agent is to be told. */
  cancelRequest(key: string): AcpSession | undefined {
    const prompt = this.#open.get(key);
    if (prompt === undefined || prompt.delivered) return undefined;
    const { session } = prompt;
    const at = session.held.indexOf(prompt);
    if (at >= 0) {
      session.held.splice(at, 1);
      this.#cancelled(prompt);
      return undefined;
    }
    this.#cancel(prompt);
    return prompt.isAtAgent ? session : undefined;
  }

  /** The client has left: nobody waits for the rest, which is no failure of the agent. */
  leave(): void {
    for (const { held, active } of this.#scope.sessions) {
      for (const prompt of held.splice(0)) this.#cancelled(prompt);
      if (active !== undefined && !active.delivered) this.#endCancelled(active);
    }
  }

  /** Does the work of one attempt. */
  async operation(prompt: Prompt, context: AttemptContext): Promise<McpAnswer> {
    prompt.context = context;
    this.#byCall.set(context.call, prompt);
    // A conversation counts its requests itself.
    const spent = prompt.session.calls?.refusal(prompt.port === undefined ? { requests: 1 } : {});
    if (spent !== undefined) throw new AttemptError(spent);
    if (this.#scope.link?.isReady !== true) await this.#start();
    const { link } = this.#scope;
    if (link?.isReady !== true) throw new AttemptError(notConnected);
    await this.#host.replay.ensure(prompt.session, link);
    return this.#send(prompt, context, link);
  }

  /** Adds what is known of the effects of a turn that passed a limit. @param call - its call of the path. */
  lateFacts(facts: FailureFacts, call: object): FailureFacts {
    const prompt = this.#byCall.get(call);
    if (prompt?.isAtAgent !== true) return facts;
    return { ...prompt.lossOf(facts), outcome: 'unknown', shouldRetry: false };
  }

  /** Ends a prompt whose model has said nothing for `limitMs`. */
  endSilent(prompt: Prompt, limitMs: number): void {
    const message = `No content of the model within ${formatDuration(limitMs)}, as \`unwedge api\` sees it`;
    const facts: FailureFacts = { kind: 'timeout', reason: 'idle_timeout', message, outcome: 'unknown' };
    this.#end(prompt, facts);
  }

  /** Hears an update of a session for the calls of its tools: a prompt whose calls repeat without progress, or have spent a budget, is ended. */
  hear(session: AcpSession, update: McpParams): void {
    if (session.active !== undefined) session.calls?.heard(update);
  }

  /** The ear for the calls of a session, where repetition is looked for, or there is a budget. */
  #listen(session: AcpSession): AcpCalls | undefined {
    const { settings, clock, facts, name, runtime } = this.#scope;
    const { accounts, are = 'integration' } = runtime.budgets;
    const budget = accounts.get(`${are}:${name}`);
    if ((settings.spinning ?? budget) === undefined) return undefined;
    const budgets = budget && [budget.ofRun(), budget];
    const end = (why: FailureFacts): void => this.#end(session.active, why);
    const caller = { clock, facts, integration: name, session: () => session.id, budgets, end };
    return new AcpCalls(new HeardCalls(settings.spinning, caller));
  }

  #end(prompt: Prompt | undefined, facts: FailureFacts): void {
    if (prompt?.row !== undefined)
      this.#host.path.end(prompt.row, this.lateFacts(facts, prompt.context?.call ?? prompt));
  }

  /** The agent answers a prompt. @returns whether it is one that it was sent. */
  answered(answer: McpAnswer, line: Uint8Array): boolean {
    const prompt = answer.key === undefined ? undefined : this.#open.get(answer.key);
    if (prompt?.isAtAgent !== true) return false;
    prompt.isAtAgent = false;
    prompt.session.calls?.ended(answer.result);
    if (prompt.isAbandoned) {
      this.#over(prompt);
      return true;
    }
    const { clock, settings } = this.#scope;
    const { profile } = settings;
    const facts = failureOfPrompt(answer, { turn: prompt.turn, wallNow: clock.wallNow(), profile });
    if (prompt.isCancelled && facts !== undefined) {
      // An agent is to say so, whatever the cancel made of its work.
      this.#endCancelled(prompt);
      return true;
    }
    if (facts === undefined) {
      this.#deliver(prompt, line);
      prompt.settle?.(answer);
    } else {
      if (answer.error !== undefined && answer.flaw === undefined) prompt.ownError = line;
      prompt.reject?.(new AttemptError(facts));
    }
    return true;
  }

  /** An agent takes prompts. */
  agentReady(): void {
    for (const { resolve } of this.#starts.splice(0)) resolve();
  }

  /** The agent is gone, and what it was at. One incident counts once. */
  lost(facts: FailureFacts): void {
    let counted: FailureFacts['breaker'];
    for (const prompt of [...this.#open.values()]) {
      if (!prompt.isAtAgent) continue;
      const isOver = prompt.isAbandoned;
      if (prompt.isCancelled && !isOver) this.#endCancelled(prompt);
      prompt.isAtAgent = false;
      if (prompt.isAbandoned) this.#over(prompt);
      else prompt.reject?.(new AttemptError({ ...prompt.lossOf(facts), ...(counted && { breaker: counted }) }));
      if (!isOver) counted = 'ignored';
    }
  }

  /** Those that wait for a start that will not come. */
  endWaiting(facts: FailureFacts): void {
    const refused = new AttemptError({ ...facts, outcome: 'not_started', shouldRetry: false });
    for (const { reject } of this.#starts.splice(0)) reject(refused);
  }

  /** The agent does not end a turn that is over, and cannot be ended itself for what it does in other sessions: what waits behind it does not wait for ever. */
  refuseHeld(session: AcpSession, olderThan: number): void {
    const { name } = this.#scope;
    const message = `${name} is still at the turn before, which was ended; it is ended with its process once its other sessions rest`;
    for (const prompt of session.held.filter(({ startedAt }) => startedAt <= olderThan)) {
      session.held.splice(session.held.indexOf(prompt), 1);
      const facts = { kind: 'unavailable', message, outcome: 'not_started' } as const;
      const failure: Failure = { ...facts, integration: name, attempts: 0, retryable: true };
      prompt.port?.settled({ ok: false, failure });
      this.#refuse(prompt, failure);
      this.#forget(prompt);
    }
  }

  /** Resolves when there is an agent that takes prompts; rejects where none comes up, or not in time. */
  #start(): Promise<void> {
    const { clock, name } = this.#scope;
    return new Promise((resolve, reject) => {
      const message = `${name} is down and has not come back within ${formatDuration(startWaitMs)}`;
      const late = { kind: 'unavailable', message, outcome: 'not_started', shouldRetry: false } as const;
      const timer = clock.setTimeout(() => reject(new AttemptError(late)), startWaitMs, { running: true });
      const ended = (settle: () => void): void => {
        clock.clearTimeout(timer);
        settle();
      };
      const waits = { resolve: () => ended(resolve), reject: (error: Error) => ended(() => reject(error)) };
      this.#starts.push(waits);
    });
  }

  #send(prompt: Prompt, context: AttemptContext, link: AgentLink): Promise<McpAnswer> {
    const { session, line } = prompt;
    if (prompt.delivered || prompt.context !== context) throw new AttemptError(givenUp);
    if (this.#scope.link !== link || line === undefined) throw new AttemptError(notConnected);
    return new Promise((resolve, reject) => {
      prompt.renew();
      prompt.settle = resolve;
      prompt.reject = reject;
      prompt.isAtAgent = true;
      context.touch();
      const sent = session.isRenamed ? session.translated(Buffer.from(line).toString('utf8'), 'agent') : line;
      if (link.relay.write(sent)) return;
      prompt.isAtAgent = false;
      reject(new AttemptError(notConnected));
    });
  }

  /** An attempt ended by a limit or on request, before its answer: the agent is told, and what it still says of the turn goes to nobody. */
  #givenUp(prompt: Prompt, facts: FailureFacts): void {
    prompt.context = undefined;
    prompt.reject?.(new AttemptError(givenUp));
    const { session } = prompt;
    const { link, clock } = this.#scope;
    // With its agent its turn is gone as well.
    if (!prompt.isAtAgent || link === undefined) return;
    prompt.isAbandoned = true;
    if (!prompt.isCancelled) prompt.leftTools = prompt.turn.openTools;
    prompt.abandonedAt = clock.now();
    this.#host.requests.withdraw(session, !prompt.isCancelled);
    if (!prompt.isCancelled) link.relay.write(notificationLine('session/cancel', { sessionId: session.agentId }));
    this.#tellAbandoned(prompt, facts);
    this.#host.abandonedChanged();
  }

  #tellAbandoned({ session, isCancelled, startedAt }: Prompt, { message }: FailureFacts): void {
    const { facts, name, clock } = this.#scope;
    const why = isCancelled ? 'cancelled' : 'limit';
    const about = {
      integration: name,
      agentSession: session.id,
      why,
      message,
      elapsedMs: clock.now() - startedAt,
    } as const;
    facts.tell({ type: 'acp.turn_abandoned', ...about });
  }

  #endCancelled(prompt: Prompt): void {
    this.#cancelled(prompt);
    if (prompt.row !== undefined) this.#host.path.end(prompt.row, cancelled);
  }

  #cancelled(prompt: Prompt): void {
    this.#deliver(prompt, rpcLine({ id: prompt.request.id, result: { stopReason: 'cancelled' } }));
    if (prompt.row !== undefined) return;
    const { name: integration } = this.#scope;
    prompt.port?.settled({ ok: false, failure: { ...cancelled, integration, attempts: 0, retryable: false } });
    this.#forget(prompt);
  }

  #settled(prompt: Prompt, outcome: Outcome<McpAnswer>): void {
    prompt.port?.settled(outcome);
    // It was told to end; what else ended it meanwhile is of no interest.
    if (!outcome.ok && prompt.isCancelled) this.#cancelled(prompt);
    else if (!outcome.ok && !prompt.delivered) this.#refuse(prompt, outcome.failure);
    prompt.context = undefined;
    if (!prompt.isAbandoned) this.#over(prompt);
  }

  /** The agent is at it no longer, and its client has its answer. */
  #over(prompt: Prompt): void {
    if (prompt.isCancelled || prompt.isAbandoned) void endLeftCommands(prompt.leftTools, this.#scope.clock);
    const { session } = prompt;
    const wasStale = prompt.isAbandoned;
    prompt.isAbandoned = false;
    if (session.current === prompt) session.current = undefined;
    this.#forget(prompt);
    if (wasStale) this.#host.abandonedChanged();
    this.#next(session);
  }

  #next(session: AcpSession): void {
    if (session.current !== undefined) return;
    const prompt = session.held.shift();
    if (prompt === undefined) return;
    session.current = prompt;
    session.calls ??= this.#listen(session);
    session.calls?.mark();
    this.#host.changed();
    const settings = prompt.port === undefined ? this.#settings : { ...this.#settings, ...prompt.port.settings };
    const row = this.#host.path.start(prompt, settings, (outcome) => this.#settled(prompt, outcome));
    prompt.row = row;
  }

  #refuse(prompt: Prompt, failure: Failure): void {
    const { clock, settings, lastStderr, toClient } = this.#scope;
    const { id } = prompt.request;
    const { session } = prompt;
    const asked = { id, method: 'session/prompt', modern: false, asTask: false };
    const stderr = failure.kind === 'crash' || failure.kind === 'spawn' ? lastStderr : '';
    // We do not send it again; its writer may.
    const retryable = failure.outcome !== 'unknown' && failureKinds[failure.kind].retried;
    const told = { ...failure, shouldRetry: undefined, retryable: failure.retryable || retryable };
    const line = answerOfFailure(asked, told, clock.now() - prompt.startedAt, stderr);
    this.#host.refused(prompt, failure);
    if (settings.errors === 'error' || prompt.port !== undefined) {
      this.#deliver(prompt, prompt.ownError ?? line);
      return;
    }
    const content = { type: 'text', text: `\n\n${settings.name}: ${errorTextOf(line)}` };
    const update = { sessionUpdate: 'agent_message_chunk', content };
    toClient(notificationLine('session/update', { sessionId: session.id, update }));
    this.#deliver(prompt, rpcLine({ id, result: { stopReason: 'max_turn_requests' } }));
  }

  #deliver(prompt: Prompt, line: Uint8Array | string): void {
    if (prompt.delivered) return;
    prompt.delivered = true;
    this.#scope.clock.clearTimeout(prompt.cancelTimer);
    if (prompt.port === undefined) this.#scope.toClient(line);
    this.#host.served();
    this.#host.changed();
  }

  #forget(prompt: Prompt): void {
    if (this.#open.get(prompt.request.key) === prompt) this.#open.delete(prompt.request.key);
    this.#checkIdle();
  }

  #checkIdle(): void {
    for (const { delivered } of this.#open.values()) if (!delivered) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** The sentence of an error of ours. */
function errorTextOf(line: string): string {
  const { error } = JSON.parse(line) as { readonly error: { readonly message: string } };
  return error.message;
}

const cancelled: FailureFacts = { kind: 'cancelled', message: 'Cancelled by the client', outcome: 'cancelled' };

/** Work that ends because it was told to is no failure of its own. */
const givenUp: FailureFacts = { kind: 'cancelled', message: 'given up', outcome: 'cancelled' };

const notConnected: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The agent is not connected',
  outcome: 'not_started',
  breaker: 'ignored',
};
