import { type McpClientPipe, startMcpClientPipe } from '../wire/mcpClientPipe.ts';
import type { ClientStreams } from '../wire/serverLines.ts';
import type { CallPath } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { AttemptError, type Failure, type FailureFacts } from '../../src/policy/failures/face.ts';
import { type McpAnswer, type McpRequest, failureIn } from '../../src/protocol/mcp/face.ts';
import { type Part, type Runtime, superviseIntegration } from '../../src/runtime/face.ts';
import { Announcements } from './announcements.ts';
import { ControlRequests } from './controlRequests.ts';
import { ClientCall, foundLine, refusalOf, withEarlierAttempts } from './clientCall.ts';
import { ClientCalls } from './clientCalls.ts';
import { finishSession } from './finishSession.ts';
import { askForLife } from './handshake.ts';
import { FromClient, maxLineBytes } from './fromClient.ts';
import { FromServer } from './fromServer.ts';
import { Elicitations } from './elicitations.ts';
import type { Line } from './outlet.ts';
import { createIdlePause } from './idlePause.ts';
import { isOnRecord, takeUpKept } from './keptBefore.ts';
import { ProxyScope, type ProxyVoice } from './proxyScope.ts';
import type { PendingCalls, RefusedCall } from './proxyWhy.ts';
import { Repetition } from './repetition.ts';
import { ServerChild } from './serverChild.ts';
import { ServerRequests } from './serverRequests.ts';
import { ToolView } from './toolView.ts';
import { checkMcpProxy, type McpProxyOptions, type ProxySettings } from './settings.ts';
import { watchUnreadInput } from './unreadInput.ts';
import { createStartUp } from './clientBeats.ts';
import { ServerReplacement, tellChanges } from './serverReplacement.ts';
import { isWork } from '../wire/requestTraits.ts';
import type { WireParts } from './wire.ts';

export type { McpProxyOptions } from './settings.ts';

/** Surroundings of a proxy: its client, and how it speaks to people. */
interface McpProxySurroundings extends ProxyVoice, ClientStreams {}

/** Most that is kept of requests for a server that is away, in bytes; beyond it the client has to wait. */
const mostRetainedBytes = 64 * 1024 * 1024;
/** Most that the client may leave unread before it is heard no more, in bytes: answers of ours are not held back by any server. */
const mostUnreadBytes = 16 * 1024 * 1024;

/**
 * An MCP server behind the pipe of one client: the pipe stays, servers come and go. An integration of the runtime and a child of its root
 * supervisor, which starts with the first message of the client. The runtime must run, and stops it.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function superviseMcpProxy(runtime: Runtime, options: McpProxyOptions, around: McpProxySurroundings): McpProxy {
  const proxy = new McpProxy(runtime, checkMcpProxy(options, runtime), around);
  runtime.join(proxy);
  return proxy;
}

/**
 * A proxy of one client among several, which come and go while the runtime runs.
 * As {@link superviseMcpProxy}, for a client that may leave before the runtime stops.
 */
export function superviseMcpSession(runtime: Runtime, settings: ProxySettings, around: McpProxySurroundings) {
  const proxy = new McpProxy(runtime, settings, around);
  const leave = runtime.join(proxy);
  return {
    proxy,
    /** Ends it and its server for good; its name may be given to another one then. Never rejects. */
    async leave(): Promise<void> {
      leave();
      proxy.beforeCalls();
      await runtime.leave(settings.name);
    },
  };
}

/** A proxy that runs: what passes between its client and its server, and what becomes of it where it does not. */
export class McpProxy implements Part {
  readonly path: CallPath<ClientCall, McpAnswer>;
  /** Resolves when the client has ended its side and was given what was still to come, or reads no more. */
  readonly ended: Promise<void>;
  /** Resolves when the client was given the first answer. */
  readonly served: Promise<void>;
  readonly #scope: ProxyScope;
  readonly #announcements: Announcements;
  readonly #requests: ServerRequests;
  readonly #elicitations: Elicitations;
  readonly #controlRequests: ControlRequests;
  readonly #calls: ClientCalls;
  readonly #repetition: Repetition;
  readonly #tools: ToolView;
  /** The last one that was answered in the server's stead. */
  #refused: RefusedCall | undefined;
  readonly #startUp: ReturnType<typeof createStartUp>;
  readonly #fromClient: FromClient;
  readonly #fromServer: FromServer;
  readonly #replacement: ServerReplacement;
  readonly #server: ServerChild;
  readonly #idlePause: ReturnType<typeof createIdlePause>;
  readonly #unreadInput: ReturnType<typeof watchUnreadInput>;
  readonly #pipe: McpClientPipe;
  #restoring: Promise<void> | undefined;
  #firstServed = (): void => undefined;
  #hasEnded = (): void => undefined;
  #release = (): void => undefined;

  constructor(runtime: Runtime, settings: ProxySettings, around: McpProxySurroundings) {
    this.served = new Promise((resolve) => {
      // To settle a promise again is told to Node each time.
      this.#firstServed = () => {
        this.#firstServed = () => undefined;
        resolve();
      };
    });
    this.ended = new Promise((resolve) => (this.#hasEnded = resolve));
    const scope = new ProxyScope(runtime, settings, around, (line) => this.#pipe.write(line));
    const { clock } = scope;
    const { idleMs } = settings.policy.limits;
    this.#scope = scope;
    this.#announcements = new Announcements(scope);
    this.#repetition = new Repetition(scope, around.client);
    const elicitations = new Elicitations(scope, () => [...this.#calls.all(), ...this.path.keptInputs]);
    const requests = new ServerRequests(scope, elicitations);
    const controlRequests = new ControlRequests(scope);
    const tools = new ToolView(scope, () => tellChanges(scope, controlRequests, ['tools/list']));
    this.#tools = tools;
    this.#requests = requests;
    this.#elicitations = elicitations;
    this.#controlRequests = controlRequests;
    this.path = this.#superviseCalls();
    const calls = new ClientCalls(scope, this.#callsHost());
    this.#calls = calls;
    this.#startUp = createStartUp(scope, () => calls.all());
    const fromClient = new FromClient(scope, {
      calls,
      controlRequests,
      requests,
      elicitations,
      tools,
      wantServer: () => this.#server.want(),
      refuse: (request, facts) => this.#refuseByRule(request, facts),
    });
    this.#fromClient = fromClient;
    this.#fromServer = new FromServer(scope, controlRequests, requests, tools);
    this.#idlePause = this.#createIdlePause();
    this.#replacement = new ServerReplacement(scope, {
      ...{ calls, controlRequests, requests, fromClient, announcements: this.#announcements, path: this.path },
      pipe: () => this.#pipe,
      changed: () => this.#idlePause.check(),
    });
    this.#server = this.#createServer(around.startFailed);
    this.#unreadInput = watchUnreadInput({ clock, limitMs: idleMs, suspect: () => this.#server.hangWatch.suspect() });
    this.#pipe = this.#startPipe(around);
    this.#restoring = takeUpKept(scope, this.path).finally(() => (this.#restoring = undefined));
  }

  get pending(): PendingCalls {
    const { name, session, clock, wire } = this.#scope;
    const [calls, refused] = [[...this.#calls.all()], this.#refused];
    return { name, session, calls, clock, path: this.path, pid: wire?.relay.pid, refused };
  }

  /** Nothing is taken from the client any more, and a server that still runs has had its time to end. */
  beforeCalls(): void {
    this.#pipe.stop();
    this.#server.stop();
    this.#controlRequests.stop();
    this.#idlePause.stop();
    this.#elicitations.stop();
    this.#tools.end();
    this.#calls.stop();
    this.#startUp.end();
    this.#unreadInput.end();
    this.#fromServer.end();
    this.#scope.runtime.results.forget(this.#scope.owner);
  }

  #superviseCalls(): CallPath<ClientCall, McpAnswer> {
    const { runtime, settings, name } = this.#scope;
    return superviseIntegration<ClientCall, McpAnswer>(runtime, {
      name,
      about: {
        type: 'mcp',
        namesOf: ({ request, prompt }) => ({ method: request.method, prompt, requestId: String(request.id) }),
      },
      policy: settings.policy,
      shares: 'nothing',
      toolOf: (call) => call.tool,
      isCounted: ({ request }) => isWork(request.method),
      operation: (call, context) => this.#calls.operation(call, context),
      failed: (call, failure) => this.#failed(call, failure),
      goesOn: (call) => this.#calls.goesOn(call),
      probe: () => this.#probe(),
      startsDown: () => !this.#scope.isUp,
      restartInMs: () => this.#server.nextStartInMs,
      incarnation: this.#scope.incarnations,
      describeTimeout: (reason, limitMs) =>
        `${reason === 'idle_timeout' ? 'No answer or progress' : 'No answer'} within ${formatDuration(limitMs)}`,
      // Output that the client does not read is no fault of the server.
      amendTimeout: (facts, { call }) => {
        const named = this.#calls.isHandshake(call) ? handshakeTimeout(facts, settings) : facts;
        return this.#pipe.isFull ? { ...named, breaker: 'ignored' } : named;
      },
      onSilence: async (cause) => {
        // A server that has answered nothing yet still starts, which has a limit of its own; its client may give up sooner.
        if (cause === 'cancelled' && !this.#scope.record.established) return true;
        const isAlive = (await this.#server.hangWatch.suspect()) === 'alive';
        if (isAlive) this.#calls.takeSilent();
        return isAlive;
      },
      whenAlive: settings.whenAlive,
    });
  }

  #failed(call: ClientCall, failure: Failure): void {
    // A call that its server answered in the moment it was lost has its record.
    if (failure.kind === 'cancelled' || call.answer !== undefined) return;
    this.#announcements.toolFailed(call, failure, failure.attempts);
  }

  async #probe(): Promise<void> {
    const { wire, record } = this.#scope;
    if (wire === undefined) throw new AttemptError(away);
    await askForLife(wire, record);
  }

  #callsHost(): ConstructorParameters<typeof ClientCalls>[1] {
    return {
      path: this.path,
      repetition: this.#repetition,
      shookHands: () => this.#fromClient.serverReady(),
      deliver: (call, line, answer) => this.#deliver(call, line, answer),
      found: (call, answer, how) => this.#deliver(call, foundLine(call, answer, how), answer),
      refuse: (call, failure, elapsedMs, task) => this.#refuse(call, failure, elapsedMs, task),
      tools: this.#tools,
      judgedLoss: (call, { message }, isRepeated) =>
        this.#announcements.lossesJudged(isRepeated ? [] : [call], isRepeated ? [call] : [], message),
      restoring: () => {
        // The store waits for the first answer, which waits for the store.
        if (this.#restoring !== undefined) this.#firstServed();
        return this.#restoring;
      },
      isOnRecord: () => isOnRecord(this.#scope),
      retained: (bytes) => {
        if (bytes > mostRetainedBytes) this.#pipe.hold('bytes');
        else this.#pipe.release('bytes');
      },
    };
  }

  #deliver(call: ClientCall, line: Line, answer: McpAnswer): void {
    const { record, recorded, settings, voice } = this.#scope;
    if (answer.result !== undefined) {
      record.answered(call.request, answer.result);
      recorded?.noted(call.request, answer.result);
      if (call.tool === undefined)
        for (const line of settings.toolNames.note(call.request, answer.result)) voice.say(line);
    }
    this.#startUp.end();
    const compared = this.#tools.seen(call.request, answer.result);
    if (compared === undefined) this.#give(call, line, answer);
    else void compared.then(() => this.#give(call, line, answer));
  }

  #give(call: ClientCall, line: Line, answer: McpAnswer): void {
    const { outlet } = this.#scope;
    const facts = failureIn(answer);
    const given = facts === undefined ? this.#tools.shown(call.request, line) : withEarlierAttempts(call, line, answer);
    call.answerBytes = given.length;
    const told = this.#scope.told.line(call.request, call.tool, given);
    outlet.write(this.#repetition.answered(call, told, facts, answer));
    this.#firstServed();
    this.#server.served();
    if (facts !== undefined) this.#announcements.toolFailed(call, facts, call.row?.attempts);
  }

  #refuse(call: ClientCall, failure: Failure, elapsedMs: number, task: string | undefined): void {
    const { wire, lastStderr, outlet, log, clock } = this.#scope;
    const refusal = task ?? refusalOf(call, failure, elapsedMs, wire?.relay.stderr || lastStderr);
    outlet.write(this.#repetition.answered(call, refusal, failure));
    const { id, method } = call.request;
    const { kind, reason, outcome } = failure;
    const { row, tool = method, startedAt } = call;
    this.#refused = { number: row?.number ?? String(id), tool, startedAt, failure, at: clock.now() };
    log?.note('answered by unwedge', { id, method, kind, reason, outcome });
    this.#firstServed();
  }

  /** A call that a rule keeps from the server, is answered and told, and counts as refused. */
  #refuseByRule(request: McpRequest, facts: FailureFacts): void {
    const { name: integration, clock, runtime } = this.#scope;
    const call = new ClientCall(request, nothing, clock.now(), () => undefined);
    const failure: Failure = { ...facts, integration, attempts: 0, retryable: false };
    const counter = runtime.statistics.of(integration);
    for (const each of [counter, counter.ofTool(call.tool)]) each?.refused();
    this.#failed(call, failure);
    this.#refuse(call, failure, 0, undefined);
  }

  #createIdlePause(): ReturnType<typeof createIdlePause> {
    const { clock, settings } = this.#scope;
    return createIdlePause({
      clock,
      everyMs: Math.min(settings.policy.limits.idleMs / 3, 5000),
      // While people are asked, or the client does not read, the server is not silent.
      isOwed: () => this.#pipe.isFull || this.#requests.isWaiting,
      touch: () => {
        for (const call of this.#calls.all()) call.context?.touch();
      },
    });
  }

  #createServer(startFailed: McpProxySurroundings['startFailed']): ServerChild {
    const scope = this.#scope;
    const { record, clock } = scope;
    const wire: WireParts = {
      now: () => clock.now(),
      nextId: () => scope.nextId(),
      late: (asker, answer, givenUpAt) => {
        if (asker instanceof ClientCall && asker.answeredLate(answer)) return;
        this.#announcements.late(asker, answer, givenUpAt, clock.now());
      },
    };
    return new ServerChild(scope, {
      wire,
      started: (begun) => {
        this.#startUp.begin();
        return this.#replacement.started(begun);
      },
      ready: (taking) => {
        // A server that was not greeted still has to answer the client's own handshake.
        if (record.established) this.#startUp.end();
        this.#replacement.ready(taking);
      },
      lost: (facts, stderr, gone) => {
        this.#unreadInput.end();
        this.#fromServer.end();
        this.#startUp.end();
        if (!record.established) startFailed?.();
        return this.#replacement.lost(facts, stderr, gone);
      },
      incarnationEnded: () => this.path.incarnationEnded(),
      gather: () => this.#pipe.gather(),
      line: (line) => {
        this.#controlRequests.serverSpoke();
        this.#fromServer.take(line);
        this.#idlePause.check();
      },
      errors: (chunk) => {
        this.#controlRequests.serverSpoke();
        scope.voice.errors(chunk);
      },
      drained: () => {
        this.#unreadInput.end();
        this.#pipe.release('server');
      },
      isNeeded: () => this.path.stats.waiting > 0 || this.#controlRequests.isWaiting || record.subscriptions.length > 0,
      isUnread: () => this.#pipe.isFull,
    });
  }

  #startPipe({ input, output }: McpProxySurroundings): McpClientPipe {
    const scope = this.#scope;
    return startMcpClientPipe({
      input,
      output,
      maxLineBytes,
      begin: (isOne) => {
        if (!isOne) this.#release = scope.wire?.relay.gather() ?? this.#release;
      },
      end: () => this.#piecePassed(),
      line: (line) => this.#fromClient.take(line),
      tooLong: (head) => this.#fromClient.refuse(head),
      ended: () => {
        this.#requests.leave();
        void finishSession(scope, this.#calls, this.#controlRequests, this.#pipe).then(this.#hasEnded);
      },
      fullChanged: (full) => {
        if (full) scope.wire?.relay.pauseOutput();
        else {
          this.#pipe.release('unread');
          scope.wire?.relay.resumeOutput();
        }
        this.#idlePause.check();
      },
    });
  }

  /** All lines of one piece of input were taken. */
  #piecePassed(): void {
    this.#release();
    this.#release = () => undefined;
    if (this.#scope.wire?.relay.isFull === true) {
      this.#pipe.hold('server');
      this.#unreadInput.begin();
    }
    if (this.#pipe.unread > mostUnreadBytes) this.#pipe.hold('unread');
  }
}

/** Line of a call that is never written. */
const nothing = new Uint8Array();

/** All limits of a handshake are one; it has no progress to show. */
function handshakeTimeout(facts: FailureFacts, { server }: ProxySettings): FailureFacts {
  const message = `No answer to initialize within ${formatDuration(server.handshakeMs)}`;
  return { ...facts, reason: 'init_timeout', message };
}

const away: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The server is not connected',
  outcome: 'not_started',
};
