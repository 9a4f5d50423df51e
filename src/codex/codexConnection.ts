import { McpProcess } from '../actors/mcp/mcpProcess.ts';
import { createStderrTail, valueHider } from '../actors/mcp/mcpStderr.ts';
import { isCleanExit, lossFacts, withStderr } from '../actors/mcp/serverEnd.ts';
import { createRpcPeer } from '../actors/rpc/rpcPeer.ts';
import type { IncomingRequest, RequestEnd, RequestOptions } from '../actors/rpc/rpcPeerTypes.ts';
import type { ConnectionEvent, connectionMachine, ProcessEnd } from '../machines/connection.ts';
import type { RegisterChild, RegisteredChild } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import type { FailureFacts } from '../policy/failure.ts';
import { requestFailure } from '../protocol/codex/requestFailure.ts';
import { maxMalformedLines } from '../protocol/codex/requests.ts';
import { recordIn, textIn } from '../protocol/agentReport.ts';
import { startupFacts } from './codexLoss.ts';
import type { CodexSettings } from './codexOptions.ts';
import type { CodexServer } from './codexTypes.ts';
import { connectionOver, killGraceMs, type ProcessLink } from '../actors/process/processLink.ts';

/** One connection to an app-server whose handshake is over, until it is lost. */
export interface CodexConnection {
  readonly server: CodexServer;
  /** Why it ended, once it has. */
  readonly lost: FailureFacts | undefined;
  /** Whether what comes from it are messages. */
  readonly healthy: boolean;
  /** Rejects with an `AttemptError` whose facts say what is known. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Kills the app-server and all it started, for this reason. */
  kill(facts: FailureFacts): void;
}

/** Who hears of a connection. None of these may throw. */
export interface CodexConnectionHost {
  readonly clock: Clock;
  readonly register: RegisterChild | undefined;
  ready(connection: CodexConnection): void;
  /** Told once, when it can no longer be used or did not come up; before what is in flight ends and before the process is gone. */
  lost(facts: FailureFacts, how: 'normal' | 'crashed' | 'killed'): void;
  /** The process and all it started are gone; `undefined` when there never was one. */
  gone(end: ProcessEnd): void;
  notified(method: string, params: unknown, bytes: number): void;
  asked(request: IncomingRequest): void;
  stray(stream: 'stdout' | 'stderr', line: string): void;
  /** Something is wrong that does not end the connection. */
  trouble(facts: FailureFacts): void;
  requested(id: number, method: string, params: unknown): void;
  requestEnded(end: RequestEnd): void;
  readonly line: ((direction: 'sent' | 'received', text: string) => void) | undefined;
  threw(error: unknown): void;
  /** Resolves when what is under way has let go; asked before an end in good order. Never rejects. */
  drained(): Promise<void>;
}

/** Who we say we are. */
const clientInfo = { name: 'unwedge', title: 'unwedge', version: '0.1.0' } as const;

/** What a connection has to know of its integration. */
export interface ConnectionSettings extends CodexSettings {
  /** Requests that may wait for their answers at once. */
  readonly maxInFlight: number;
}

/** The connection machine over an app-server's process. An actor that is stopped without having ended gets everything killed at once. */
export function codexConnectionLogic(
  settings: ConnectionSettings,
  host: CodexConnectionHost,
): typeof connectionMachine {
  return connectionOver((send) => startLink(settings, host, send));
}

function startLink(
  settings: ConnectionSettings,
  host: CodexConnectionHost,
  send: (event: ConnectionEvent) => void,
): ProcessLink {
  const { clock } = host;
  const startedAt = clock.now();
  const hide = valueHider(settings.process.env);
  const errors = createStderrTail(hide, (line) => host.stray('stderr', line));
  let ready = false;
  let lost: FailureFacts | undefined;
  let registered: RegisteredChild | undefined;
  let isGone = false;

  const server = new McpProcess(settings.process, clock, {
    started(pid) {
      registered?.started(pid);
      send({ type: 'link.started', pid });
    },
    output: (chunk) => peer.push(chunk),
    outputEnded: () => peer.end(),
    errors: (chunk) => errors.push(chunk),
    errorsEnded: () => errors.end(),
    ended() {
      // Before the handshake is over the request that is it says so.
      if (ready && server.end !== undefined) endedByItself();
      else peer.close({ kind: 'crash', reason: 'startup_failed', message: 'Codex ended', outcome: 'unknown' });
    },
  });

  const peer = createRpcPeer({
    clock,
    write: (line) => server.write(line),
    maxMessageBytes: settings.process.maxMessageBytes,
    maxInFlight: settings.maxInFlight,
    maxMalformed: maxMalformedLines,
    readError: (error) => requestFailure(error, clock.wallNow()),
    listener: {
      notified: (method, params, bytes) => host.notified(method, params, bytes),
      asked: (request) => host.asked(request),
      strange: (what, text) => host.stray('stdout', `${strangeness[what]}: ${hide(withoutContent(text))}`),
      unhealthy: (lines) =>
        host.trouble({ kind: 'protocol', message: `${lines} lines in a row are no messages`, outcome: 'unknown' }),
      tooLarge: () => server.finish({ fault: 'message_too_large' }),
      requested: (id, method, params) => host.requested(id, method, params),
      ended: (end) => host.requestEnded(end),
      ...(host.line !== undefined && { line: host.line }),
      threw: (error) => host.threw(error),
    },
  });

  /** The first reason wins. Whoever owns the turns hears of it before they end one by one: one incident counts once. */
  const lose = (facts: FailureFacts, how: 'normal' | 'crashed' | 'killed'): boolean => {
    if (lost !== undefined) return false;
    lost = facts;
    host.lost(facts, how);
    peer.close(facts);
    server.finish({ ...server.exit, fault: 'abandoned' });
    return true;
  };

  const end = (): ProcessEnd => ({ pid: server.pid, ...server.exit, elapsedMs: clock.now() - startedAt });
  const gone = (): void => {
    if (isGone) return;
    isGone = true;
    registered?.ended();
    host.gone(end());
  };

  /** Ends what is left of the process, then the connection. */
  const bury = (facts: FailureFacts, how: 'normal' | 'crashed' | 'killed'): void => {
    if (!lose(facts, how)) return;
    void server.terminate(killGraceMs).then(() => {
      gone();
      send(how === 'normal' ? { type: 'link.closed', end: end() } : { type: 'link.lost', facts, end: end() });
    });
  };

  const endedByItself = (): void => {
    const { end: how = {} } = server;
    const killed = how.fault === 'message_too_large';
    bury(lossFacts(how, errors.text(), 'Codex'), isCleanExit(how) ? 'normal' : killed ? 'killed' : 'crashed');
  };

  const connect = async (): Promise<void> => {
    let answer: unknown;
    try {
      registered = host.register?.({ mark: server.mark, command: settings.process.command });
      await server.start();
      answer = await peer.request('initialize', {
        clientInfo,
        capabilities: { experimentalApi: settings.experimentalApi, requestAttestation: false },
      });
    } catch (error) {
      const facts = startupFacts(error, server.end, errors.text());
      bury(facts, facts.reason === 'init_rejected' || facts.reason === 'message_too_large' ? 'killed' : 'crashed');
      return;
    }
    const { pid } = server;
    if (lost !== undefined) return;
    if (pid === undefined || server.end !== undefined || !peer.notify('initialized')) {
      bury(startupFacts(undefined, server.end ?? { fault: 'pipe_closed' }, errors.text()), 'crashed');
      return;
    }
    ready = true;
    send({ type: 'link.ready', server: undefined });
    host.ready({
      server: { pid, userAgent: textIn(recordIn(answer)?.['userAgent']) },
      get lost() {
        return lost;
      },
      get healthy() {
        return peer.healthy;
      },
      request: (method, params, options) => peer.request(method, params, options),
      kill: (facts) => send({ type: 'link.hung', facts }),
    });
  };
  void connect();

  return {
    close() {
      void host.drained().then(() => {
        // What is lost already is being buried, and says so itself.
        if (!lose(stopped, 'normal')) return;
        void server.close().then(() => {
          gone();
          send({ type: 'link.closed', end: end() });
        });
      });
    },
    kill(facts) {
      bury({ ...facts, message: withStderr(facts.message, errors.text()) }, 'killed');
    },
    release() {
      lose(stopped, 'killed');
      server.killNow();
      gone();
    },
  };
}

const strangeness = {
  malformed: 'no message',
  unknown_answer: 'an answer that nobody waits for',
  partial: 'the rest of a line at the end',
} as const;

/** A piece of a message tells what it is about, and not what was said. */
function withoutContent(text: string): string {
  return text.replace(/("(?:params|result)"\s*:).*$/s, '$1 [left out]');
}

const stopped: FailureFacts = {
  kind: 'cancelled',
  reason: 'stopped',
  message: 'Codex was stopped',
  outcome: 'unknown',
};
