import { type CallPath, restarted } from '../../src/calls/face.ts';
import { inTime } from '../../src/policy/face.ts';
import type { Failure, FailureFacts } from '../../src/policy/failures/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { rpcLine } from '../../src/protocol/face.ts';
import type { McpAnswer, McpRequest } from '../../src/protocol/mcp/face.ts';
import { type Part, type Runtime, superviseIntegration } from '../../src/runtime/face.ts';
import { type McpClientPipe, startMcpClientPipe } from '../wire/mcpClientPipe.ts';
import type { ClientStreams } from '../wire/serverLines.ts';
import type { SessionWhy } from '../../src/sessions/face.ts';
import { acpWhy } from './acpWhy.ts';
import { AgentChild } from './agentChild.ts';
import type { AgentLink } from './agentLink.ts';
import { AgentRequests } from './agentRequests.ts';
import { ClientRequests } from './clientRequests.ts';
import { DeafWatch } from './deafWatch.ts';
import { FromAgent } from './fromAgent.ts';
import { FromClient, maxLineBytes } from './fromClient.ts';
import { IdleExcuse } from './idleExcuse.ts';
import type { AskLayers } from './layers.ts';
import type { Prompt, PromptPort } from './prompt.ts';
import { Prompts } from './prompts.ts';
import { Replay } from './replay.ts';
import { AcpScope, type AcpVoice } from './scope.ts';
import { type AcpProxyOptions, type AcpSettings, checkAcpProxy } from './settings.ts';
import { type WrapServers, asTheyAre } from './wrapServers.ts';

export type { AcpProxyOptions } from './settings.ts';

/** Surroundings of a proxy: its client, and how it speaks to people. */
export interface AcpSurroundings extends AcpVoice, Pick<ClientStreams, 'input' | 'output'> {
  /** Changes what the agent is sent of a request. @defaultValue it is sent as it came */
  readonly wrap?: WrapServers | undefined;
  /** Tells what goes on below the agent; asked every 30 s at the most, while a prompt is silent. @defaultValue nobody does */
  readonly layers?: AskLayers | undefined;
}

/** Times that the rest may take once the client has ended its side, in ms: what is under way, then the agent and the client each. */
const drainMs = 3000;
const graceMs = 1500;
/** Starts in a row that come to nothing; then what waits for one is answered. */
const mostFailedStarts = 3;

/**
 * An agent of the Agent Client Protocol behind the pipe of one client: the pipe stays, agents come and go. An integration of the runtime and a child of its
 * root supervisor, which starts with the first message of the client. The runtime must run, and stops it.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function superviseAcpProxy(runtime: Runtime, options: AcpProxyOptions, around: AcpSurroundings): AcpProxy {
  const proxy = new AcpProxy(runtime, checkAcpProxy(options, runtime), around);
  runtime.join(proxy);
  return proxy;
}

/** A proxy that runs: what passes between its client and its agent, and what becomes of it where it does not. */
export class AcpProxy implements Part {
  readonly path: CallPath<Prompt, McpAnswer>;
  /** Resolves when the client has ended its side and was given what was still to come, or reads no more. */
  readonly ended: Promise<void>;
  /** Resolves when the client was given the first answer. */
  readonly served: Promise<void>;
  readonly #scope: AcpScope;
  readonly #requests: AgentRequests;
  readonly #replay: Replay;
  readonly #prompts: Prompts;
  readonly #clientRequests: ClientRequests;
  readonly #fromClient: FromClient;
  readonly #fromAgent: FromAgent;
  readonly #agent: AgentChild;
  readonly #deaf: DeafWatch;
  readonly #excuse: IdleExcuse;
  readonly #pipe: McpClientPipe;
  #refused: { readonly prompt: Prompt; readonly failure: Failure; readonly at: number } | undefined;
  #lostWhy: { readonly why: string; readonly at: number } | undefined;
  #complaint = '';
  /** Starts in a row that came to nothing. */
  #failedStarts = 0;
  #firstServed = (): void => undefined;
  #hasEnded = (): void => undefined;
  #release = (): void => undefined;

  constructor(runtime: Runtime, settings: AcpSettings, around: AcpSurroundings) {
    this.served = new Promise((resolve) => (this.#firstServed = resolve));
    this.ended = new Promise((resolve) => (this.#hasEnded = resolve));
    const scope = new AcpScope(runtime, settings, around, (line) => this.#pipe.write(line));
    this.#scope = scope;
    this.#requests = new AgentRequests(scope);
    this.#replay = new Replay(scope, (method) => this.#late(method));
    this.path = this.#supervisePrompts();
    const served = this.#firstServed;
    const { requests, replay } = { requests: this.#requests, replay: this.#replay };
    const prompts = new Prompts(scope, {
      ...{ path: this.path, requests, replay, served },
      abandonedChanged: () => {
        this.#deaf.check();
        this.#clientRequests.agentReady();
      },
      changed: () => this.#excuse.check(),
      refused: (prompt, failure) => (this.#refused = { prompt, failure, at: scope.clock.now() }),
    });
    this.#prompts = prompts;
    const clientRequests = new ClientRequests(scope, {
      ...{ replay, served, wrap: around.wrap ?? asTheyAre },
      greeted: () => (this.#complaint = ''),
      late: (method) => this.#late(method),
      closed: (session) => prompts.cancel(session),
    });
    this.#clientRequests = clientRequests;
    this.#fromClient = new FromClient(scope, {
      prompts,
      clientRequests,
      requests,
      wantAgent: () => this.#agent.want(),
    });
    this.#fromAgent = new FromAgent(scope, {
      ...{ prompts, clientRequests, requests },
      served: () => {
        this.#failedStarts = 0;
        this.#agent.served();
      },
    });
    this.#agent = this.#createAgent();
    this.#deaf = new DeafWatch(scope, prompts, (why) => this.#hung(why));
    this.#excuse = new IdleExcuse(scope, {
      ...{ prompts, requests, isUnread: () => this.#pipe.isFull, ask: around.layers },
      silentMs: ({ row, isAtAgent }) => (row !== undefined && isAtAgent && this.path.why(row)?.silentMs) || 0,
    });
    this.#pipe = this.#startPipe(around);
  }

  /** Has a prompt of a client in this process answered: one that is not written, but told its outcome. */
  prompt(request: McpRequest, port: PromptPort): void {
    this.#agent.want();
    const { id, method, params } = request;
    this.#prompts.start(request, Buffer.from(rpcLine({ id, method, params })), port);
  }

  /** Resolves once a session that its client in this process has loaded has told its past. */
  async quiet(id: string): Promise<void> {
    const { sessions, link } = this.#scope;
    const session = sessions.known(id);
    if (session !== undefined && link !== undefined) await this.#replay.quiet(session, link);
  }

  /** Tells what the client waits for, in the form of a session: its connection is one. */
  why(): SessionWhy {
    const { name, clock, link } = this.#scope;
    const questions = this.#requests.questions(clock.now());
    const prompts = [...this.#prompts.waiting()];
    return acpWhy({
      name,
      clock,
      path: this.path,
      pid: link?.relay.pid,
      prompts,
      questions,
      refused: this.#refused,
    });
  }

  /** Nothing is taken from the client any more, and an agent that still runs has had its time to end. */
  beforeCalls(): void {
    this.#pipe.stop();
    this.#agent.stop();
    this.#clientRequests.stop();
    this.#deaf.stop();
    this.#excuse.stop();
    this.#fromAgent.end();
  }

  #supervisePrompts(): CallPath<Prompt, McpAnswer> {
    const { runtime, settings, name } = this.#scope;
    return superviseIntegration<Prompt, McpAnswer>(runtime, {
      name,
      about: { type: 'acp', namesOf: ({ request }) => ({ method: 'session/prompt', requestId: String(request.id) }) },
      policy: settings.policy,
      // All who start it call one model.
      shares: 'circuit',
      operation: (prompt, context) => this.#prompts.operation(prompt, context),
      onRestart: () => this.#agent.restart(),
      describeTimeout: (reason, limitMs) =>
        `${reason === 'idle_timeout' ? 'No progress' : 'No end of the turn'} within ${formatDuration(limitMs)}`,
      amendTimeout: (facts, { call }) => this.#prompts.lateFacts(facts, call),
    });
  }

  #createAgent(): AgentChild {
    const scope = this.#scope;
    return new AgentChild(scope, {
      started: (link) => this.#started(link),
      ready: () => this.#ready(),
      lost: (facts, stderr, link) => this.#lost(facts, stderr, link),
      isNeeded: () => this.#isNeeded(),
      gather: () => this.#pipe.gather(),
      line: (line) => this.#fromAgent.take(line),
      drained: () => this.#pipe.release('agent'),
    });
  }

  #isNeeded(): boolean {
    return [...this.#prompts.waiting()].length > 0 || this.#clientRequests.size > 0;
  }

  #started(link: AgentLink): Promise<void> | undefined {
    if (this.#pipe.isFull) link.relay.pauseOutput();
    // The client's own handshake is the first this agent hears.
    const { agreement } = this.#scope;
    if (agreement.initialized === undefined || this.#clientRequests.isInitializing) return undefined;
    return this.#replay.greet(link);
  }

  #ready(): void {
    const { name, clock, voice } = this.#scope;
    const lost = this.#lostWhy;
    this.#lostWhy = undefined;
    if (lost !== undefined)
      voice.say(`${name} was restarted after ${formatDuration(clock.now() - lost.at)}: ${lost.why}`);
    this.#clientRequests.agentReady();
    this.#fromClient.agentReady();
    this.#prompts.agentReady();
  }

  /** It is gone. @returns whether that was to be expected, and is no failure. */
  #lost(why: FailureFacts, stderr: string, link: AgentLink | undefined): boolean {
    const { name, agreement, clock, voice } = this.#scope;
    // An agent that goes with its proxy was not restarted.
    const isLast = why.reason === 'stopped' && this.#agent.isStopped;
    const facts = why.reason === 'stopped' && !isLast ? restarted(name) : why;
    const isBusy = [...this.#prompts.waiting()].some(({ isAtAgent }) => isAtAgent) || this.#clientRequests.size > 0;
    const isQuiet = isLast || (!isBusy && (facts.reason === 'connection_closed' || this.#deaf.isEnding));
    const isHopeless = facts.kind === 'spawn';
    const told = isHopeless ? cannotStart(name, facts) : facts;
    this.#deaf.isEnding = false;
    if (stderr !== '') this.#scope.lastStderr = stderr;
    this.#fromAgent.end();
    if (agreement.initialized !== undefined) this.#lostWhy ??= { why: facts.message, at: clock.now() };
    else if (!isQuiet && this.#complaint !== facts.message) {
      this.#complaint = facts.message;
      voice.say(`${name} does not come up: ${facts.message}${stderr === '' ? '' : `; stderr: ${stderr}`}`);
    }
    this.#prompts.lost(facts);
    // Gives more time at the next start to an agent that was cut off.
    if (facts.reason !== 'init_timeout') this.#failedStarts++;
    if (isHopeless || this.#failedStarts >= mostFailedStarts) this.#prompts.endWaiting(told);
    link?.lost(facts);
    this.#requests.lost();
    this.#clientRequests.lost(told, isHopeless);
    this.#pipe.release('agent');
    return isQuiet && facts.reason === 'connection_closed';
  }

  /** It did not answer what every agent answers at once. One that works in a turn may be late with the rest; the turn has limits of its own. */
  #late(method: string): void {
    if ([...this.#prompts.waiting()].some(({ isAtAgent }) => isAtAgent)) return;
    this.#hung(`it did not answer ${method} within ${formatDuration(this.#scope.settings.startMs)}`);
  }

  /** It is ended with all it started, and started again. */
  #hung(why: string): void {
    const message = `The agent hung: ${why}`;
    this.#scope.link?.relay.kill({ kind: 'crash', reason: 'hang', message, outcome: 'unknown' });
  }

  #startPipe({ input, output }: AcpSurroundings): McpClientPipe {
    const scope = this.#scope;
    return startMcpClientPipe({
      input,
      output,
      maxLineBytes,
      begin: () => {
        this.#release = scope.link?.relay.gather() ?? this.#release;
      },
      end: () => {
        this.#release();
        this.#release = () => undefined;
        if (scope.link?.relay.isFull === true) this.#pipe.hold('agent');
      },
      line: (line) => this.#fromClient.take(line),
      tooLong: (head) => this.#fromClient.refuse(head),
      ended: () => {
        this.#requests.leave();
        void this.#finish().then(this.#hasEnded);
      },
      fullChanged: (full) => {
        if (full) scope.link?.relay.pauseOutput();
        else scope.link?.relay.resumeOutput();
      },
    });
  }

  /** The client has ended its side: what is under way may still be answered, then the agent is told, and may finish. Always resolves. */
  async #finish(): Promise<void> {
    const { clock } = this.#scope;
    const settled = Promise.all([this.#prompts.allSettled(), this.#clientRequests.allSettled()]);
    await inTime(settled, { clock, limitMs: drainMs });
    this.#prompts.leave();
    const { link } = this.#scope;
    link?.relay.endInput();
    if (link !== undefined) await inTime(link.relay.exited, { clock, limitMs: graceMs });
    await inTime(this.#pipe.flush(), { clock, limitMs: graceMs });
  }
}

/** Nothing but somebody who mends it helps; each request begins a start. */
function cannotStart(name: string, facts: FailureFacts): FailureFacts {
  const message = `${name} cannot be started: ${facts.message}; once that is mended, the next request starts it`;
  return { ...facts, kind: 'unavailable', message, outcome: 'not_started', shouldRetry: false, cause: facts };
}
