import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { startMcpClientPipe } from './actors/mcpClientPipe.ts';
import type { CallPath } from './calls/callPath.ts';
import { Announcements } from './mcpProxy/announcements.ts';
import { Asides } from './mcpProxy/asides.ts';
import type { ClientCall } from './mcpProxy/clientCall.ts';
import { ClientCalls } from './mcpProxy/clientCalls.ts';
import { farewell } from './mcpProxy/farewell.ts';
import { FromClient } from './mcpProxy/fromClient.ts';
import { FromServer } from './mcpProxy/fromServer.ts';
import { createOutlet } from './mcpProxy/outlet.ts';
import { createPatience } from './mcpProxy/patience.ts';
import { refusalOf } from './mcpProxy/refusal.ts';
import { createServerChild } from './mcpProxy/serverChild.ts';
import { ServerRequests } from './mcpProxy/serverRequests.ts';
import { checkMcpProxy, type McpProxyOptions, type ProxySettings } from './mcpProxy/settings.ts';
import { createStandstill } from './mcpProxy/standstill.ts';
import { createStartUp } from './mcpProxy/startUp.ts';
import { Succession } from './mcpProxy/succession.ts';
import type { TrafficLog } from './mcpProxy/trafficLog.ts';
import { formatDuration } from './policy/duration.ts';
import { AttemptError, type Failure, type FailureFacts } from './policy/failure.ts';
import type { McpAnswer } from './protocol/mcp/message.ts';
import { failureIn } from './protocol/mcp/toolFailure.ts';
import { createSessionRecord } from './protocol/mcp/sessionRecord.ts';
import type { Runtime } from './runtime.ts';
import { superviseIntegration } from './superviseIntegration.ts';

export type { McpProxyOptions } from './mcpProxy/settings.ts';

/** Where a proxy finds its client, and what it tells of itself. */
export interface McpProxySurroundings {
  /** What the client writes. */
  readonly input: Readable;
  /** What the client reads. */
  readonly output: Writable;
  /** Gets what the server writes to stderr, and to stdout outside the protocol. */
  readonly errors: (chunk: Uint8Array | string) => void;
  /** One line for people. */
  readonly say: (line: string) => void;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  readonly log?: TrafficLog | undefined;
}

/** A proxy that runs. */
export interface McpProxy {
  readonly path: CallPath<ClientCall, McpAnswer>;
  /** Resolves when the client has ended its side and was given what was still to come, or reads no more. */
  readonly ended: Promise<void>;
  /** Resolves when the client was given the first answer. */
  readonly served: Promise<void>;
  /** Before the runtime stops: nothing is taken from the client any more, and a server that still runs has had its time to end. */
  stop(): void;
}

/** Longest message of the client, in bytes; that of the server is the same. */
const maxLineBytes = 64 * 1024 * 1024;
/** What is kept of requests for a server that is away, in bytes; beyond it the client has to wait. */
const mostRetainedBytes = 64 * 1024 * 1024;
/** What the client may leave unread before it is heard no more, in bytes: answers of ours are not held back by any server. */
const mostUnreadBytes = 16 * 1024 * 1024;

/**
 * An MCP server behind the pipe of one client: the pipe stays, servers come and go. An integration of the runtime and a child of its root
 * supervisor, which starts with the first message of the client. The runtime must run.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function superviseMcpProxy(runtime: Runtime, options: McpProxyOptions, around: McpProxySurroundings): McpProxy {
  const settings = checkMcpProxy(options, runtime.policies);
  const { name } = settings;
  const { clock, bus } = runtime;
  const { log, hide } = around;
  const record = createSessionRecord();
  const now = (): number => clock.now();
  const nonce = randomUUID().slice(0, 8);
  let lastId = 0;
  const nextId = (): string => `unwedge-${nonce}-${++lastId}`;
  let stopped = false;
  // The integration is asked for it before there is anything to know it.
  let isUp = (): boolean => false;
  let firstServed = (): void => undefined;
  const served = new Promise<void>((resolve) => {
    firstServed = resolve;
  });
  let hasEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    hasEnded = resolve;
  });

  const outlet = createOutlet((line) => pipe.write(line));
  const requests = new ServerRequests(now, nextId);
  const asides = new Asides({
    clock,
    record,
    wire: () => server.wire,
    write: (line) => outlet.write(line),
    lastStderr: () => succession.lastStderr,
  });
  const announcements = new Announcements({ name, facts: bus, clock, say: around.say, log });
  const patience = createPatience({
    clock,
    everyMs: Math.min(settings.policy.limits.idleMs / 3, 5000),
    // While people are asked, or the client does not read, the server is not silent.
    isOwed: () => pipe.isFull || requests.isWaiting,
    touch: () => {
      for (const call of calls.all()) call.context?.touch();
    },
  });

  const standstill = createStandstill({
    clock,
    limitMs: settings.policy.limits.idleMs,
    suspect: () => server.hangWatch.suspect(),
  });

  const startUp = createStartUp({
    name,
    clock,
    calls: () => calls.all(),
    write: (line) => outlet.write(line),
    say: around.say,
  });

  const path: CallPath<ClientCall, McpAnswer> = superviseIntegration<ClientCall, McpAnswer>(runtime, {
    name,
    about: { type: 'mcp' },
    failed(call, failure) {
      // One that its server answered in the moment it was lost has its record.
      if (failure.kind !== 'cancelled' && call.answer === undefined) {
        announcements.toolFailed(call, failure, failure.attempts);
      }
    },
    policy: settings.policy,
    alone: true,
    toolOf: (call) => call.tool,
    operation: (call, context) => calls.operation(call, context),
    probe: async () => {
      const { wire } = server;
      if (wire === undefined) throw new AttemptError(away);
      await wire.request('ping', undefined).catch((error: unknown) => {
        if (!(error instanceof AttemptError) || error.facts.outcome !== 'failed') throw error;
      });
    },
    startsDown: () => !isUp(),
    restartInMs: () => server.nextStartInMs,
    describeTimeout: (reason, limitMs) =>
      reason === 'idle_timeout'
        ? `No answer or progress within ${formatDuration(limitMs)}`
        : `No answer within ${formatDuration(limitMs)}`,
    // What the client does not read is no fault of the server.
    amendTimeout: (facts, { call }) => {
      const named = calls.isHandshake(call) ? handshakeTimeout(facts, settings) : facts;
      return pipe.isFull ? { ...named, breaker: 'ignored' } : named;
    },
    onSilence: async () => {
      const isAlive = (await server.hangWatch.suspect()) === 'alive';
      if (isAlive) calls.takeSilent();
      return isAlive;
    },
    whenAlive: settings.whenAlive,
  });

  const calls = new ClientCalls({
    clock,
    settings,
    record,
    path: () => path,
    wire: () => server.wire,
    shookHands: () => fromClient.serverReady(),
    deliver(call, line, answer) {
      if (answer.result !== undefined) record.answered(call.request, answer.result);
      startUp.end();
      outlet.write(line);
      firstServed();
      server.served();
      const facts = failureIn(answer);
      if (facts !== undefined) announcements.toolFailed(call, facts, call.row?.attempts);
    },
    refuse,
    retained: (bytes) => {
      if (bytes > mostRetainedBytes) pipe.hold('bytes');
      else pipe.release('bytes');
    },
  });

  const fromClient = new FromClient({
    outlet,
    record,
    wire: () => server.wire,
    calls,
    asides,
    requests,
    log,
    maxLineBytes,
    wantServer: () => server.want(),
  });
  const fromServer = new FromServer({
    outlet,
    wire: () => server.wire,
    asides,
    requests,
    log,
    noise: (text) => around.errors(text.endsWith('\n') ? text : `${text}\n`),
  });

  const server = createServerChild({
    runtime,
    settings,
    hide,
    wire: {
      now,
      nextId,
      late: (asker, answer, givenUpAt) => announcements.late(asker, answer, givenUpAt, now()),
    },
    started(wire) {
      startUp.begin();
      return succession.started(wire);
    },
    ready(wire) {
      // One that nobody has greeted still has to answer the client's own handshake.
      if (record.established) startUp.end();
      succession.ready(wire);
    },
    lost(facts, stderr, wire) {
      standstill.end();
      startUp.end();
      return succession.lost(facts, stderr, wire);
    },
    gather: () => pipe.gather(),
    line(line) {
      asides.serverSpoke();
      fromServer.take(line);
      patience.check();
    },
    errors(chunk) {
      asides.serverSpoke();
      around.errors(chunk);
    },
    drained() {
      standstill.end();
      pipe.release('server');
    },
    isNeeded: () => path.stats.waiting > 0 || asides.isWaiting || record.subscriptions.length > 0,
    isEstablished: () => record.established,
    isPatient: () => !stopped,
    isUnread: () => pipe.isFull,
  });

  const succession = new Succession({
    name,
    outlet,
    record,
    calls,
    asides,
    requests,
    fromClient,
    announcements,
    path,
    pipe: () => pipe,
    wire: () => server.wire,
    say: around.say,
    changed: () => patience.check(),
  });
  isUp = () => succession.isUp;

  let release = (): void => undefined;
  const pipe = startMcpClientPipe({
    input: around.input,
    output: around.output,
    maxLineBytes,
    begin() {
      release = server.wire?.relay.gather() ?? release;
    },
    end() {
      release();
      release = () => undefined;
      if (server.wire?.relay.isFull === true) {
        pipe.hold('server');
        standstill.begin();
      }
      if (pipe.unread > mostUnreadBytes) pipe.hold('unread');
    },
    line: (line) => fromClient.take(line),
    tooLong: (head) => fromClient.refuse(head),
    ended: () => {
      void farewell({ clock, calls, asides, wire: () => server.wire, pipe }).then(hasEnded);
    },
    fullChanged(full) {
      if (full) server.wire?.relay.pauseOutput();
      else {
        pipe.release('unread');
        server.wire?.relay.resumeOutput();
      }
      patience.check();
    },
  });

  function refuse(call: ClientCall, failure: Failure, elapsedMs: number): void {
    const stderr = server.wire?.relay.stderr || succession.lastStderr;
    outlet.write(refusalOf(call, failure, elapsedMs, stderr));
    const { id, method } = call.request;
    const { kind, reason, outcome } = failure;
    log?.note('answered by unwedge', { id, method, kind, reason, outcome });
    firstServed();
  }

  return {
    path,
    ended,
    served,
    stop() {
      stopped = true;
      pipe.stop();
      server.stop();
      asides.stop();
      patience.stop();
      startUp.end();
      standstill.end();
      path.stop();
    },
  };
}

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
