import { McpProcess } from '../../src/actors/mcp/mcpProcess.ts';
import { createStderrTail } from '../../src/actors/mcp/mcpStderr.ts';
import { valueHider } from '../../src/actors/process/valueHider.ts';
import { isCleanExit, lossFacts, withStderr } from '../../src/actors/mcp/serverEnd.ts';
import type { ServerEnd } from '../../src/actors/mcp/serverLink.ts';
import { RpcPeer } from './rpc/rpcPeer.ts';
import type { ConnectionEvent, connectionMachine, ProcessEnd } from '../../src/machines/connection.ts';
import type { RegisteredChild } from '../../src/policy/childRecord.ts';
import type { FailureFacts } from '../../src/policy/failure.ts';
import { requestFailure } from './protocol/requestFailure.ts';
import { maxMalformedLines } from './protocol/requests.ts';
import { recordIn, textIn } from '../../src/protocol/agentReport.ts';
import { startupFacts } from './codexLoss.ts';
import type { CodexConnection, CodexConnectionHost, ConnectionSettings, HowLost } from './codexConnection.ts';
import type { CodexServer } from './codexTypes.ts';
import { connectionOver, killGraceMs, type ProcessLink } from '../../src/actors/process/processLink.ts';

/** The name and version we give the server. */
const clientInfo = { name: 'unwedge', title: 'unwedge', version: '0.1.0' } as const;

/** The connection machine over an app-server's process. An actor that is stopped without having ended gets everything killed at once. */
export function codexConnectionLogic(
  settings: ConnectionSettings,
  host: CodexConnectionHost,
): typeof connectionMachine {
  return connectionOver((send) => new CodexLink(settings, host, send));
}

/** The process of an app-server and the conversation with it, from its start until it is gone. */
class CodexLink implements ProcessLink {
  readonly #settings: ConnectionSettings;
  readonly #host: CodexConnectionHost;
  readonly #send: (event: ConnectionEvent) => void;
  readonly #startedAt: number;
  readonly #hide: (text: string) => string;
  readonly #errors: ReturnType<typeof createStderrTail>;
  readonly #server: McpProcess;
  readonly #peer: RpcPeer;
  #ready = false;
  #lost: FailureFacts | undefined = undefined;
  #registered: RegisteredChild | undefined = undefined;
  #isGone = false;

  constructor(settings: ConnectionSettings, host: CodexConnectionHost, send: (event: ConnectionEvent) => void) {
    this.#settings = settings;
    this.#host = host;
    this.#send = send;
    this.#startedAt = host.clock.now();
    this.#hide = valueHider(settings.process.env);
    this.#errors = createStderrTail(host.clock, this.#hide, (line) => host.stray('stderr', line));
    this.#server = this.#createServer();
    this.#peer = this.#createPeer();
    void this.#connect();
  }

  close(): void {
    void this.#host.drained().then(() => {
      // A connection lost already is being buried, and says so itself.
      if (!this.#lose(stopped, 'normal')) return;
      void this.#server.close().then(() => {
        this.#gone();
        this.#send({ type: 'link.closed', end: this.#end() });
      });
    });
  }

  kill(facts: FailureFacts): void {
    this.#bury({ ...facts, message: withStderr(facts.message, this.#errors.lastWords()) }, 'killed');
  }

  release(): void {
    this.#lose(stopped, 'killed');
    this.#server.killNow();
    this.#gone();
  }

  #createServer(): McpProcess {
    return new McpProcess(this.#settings.process, this.#host.clock, {
      started: (pid) => {
        if (pid === undefined) return;
        this.#registered?.started(pid);
        this.#send({ type: 'link.started', pid });
      },
      output: (chunk) => this.#peer.push(chunk),
      outputEnded: () => this.#peer.end(),
      errors: (chunk) => this.#errors.push(chunk),
      errorsEnded: () => this.#errors.end(),
      ended: () => {
        // Before the handshake is over the request that is it says so.
        if (this.#ready && this.#server.end !== undefined) this.#endedByItself(this.#server.end);
        else this.#peer.close(endedInStart);
      },
    });
  }

  #createPeer(): RpcPeer {
    const host = this.#host;
    const { clock } = host;
    const { process, maxInFlight } = this.#settings;
    return new RpcPeer({
      clock,
      write: (line) => this.#server.write(line),
      maxMessageBytes: process.maxMessageBytes,
      maxInFlight,
      maxMalformed: maxMalformedLines,
      readError: (error) => requestFailure(error, clock.wallNow()),
      listener: {
        notified: (method, params, bytes) => host.notified(method, params, bytes),
        asked: (request) => host.asked(request),
        strange: (what, text) => host.stray('stdout', `${strangeness[what]}: ${this.#hide(withoutContent(text))}`),
        unhealthy: (lines) =>
          host.trouble({ kind: 'protocol', message: `${lines} lines in a row are no messages`, outcome: 'unknown' }),
        tooLarge: () => this.#server.finish({ fault: 'message_too_large' }),
        requested: (id, method, params) => host.requested(id, method, params),
        ended: (end) => host.requestEnded(end),
        ...(host.line !== undefined && { line: host.line }),
        threw: (error) => host.threw(error),
      },
    });
  }

  /** Starts the process and shakes hands. Never rejects. */
  async #connect(): Promise<void> {
    const server = this.#server;
    let answer: unknown;
    try {
      this.#registered = this.#host.register?.({ mark: server.mark, command: this.#settings.process.command });
      await server.start();
      answer = await this.#peer.request('initialize', {
        clientInfo,
        capabilities: { experimentalApi: this.#settings.experimentalApi, requestAttestation: false },
      });
    } catch (error) {
      const facts = startupFacts(error, server.end, this.#errors.text());
      this.#bury(
        facts,
        facts.reason === 'init_rejected' || facts.reason === 'message_too_large' ? 'killed' : 'crashed',
      );
      return;
    }
    const { pid } = server;
    if (this.#lost !== undefined) return;
    if (pid === undefined || server.end !== undefined || !this.#peer.notify('initialized')) {
      this.#bury(startupFacts(undefined, server.end ?? { fault: 'pipe_closed' }, this.#errors.text()), 'crashed');
      return;
    }
    this.#ready = true;
    this.#errors.up();
    this.#send({ type: 'link.ready', server: undefined });
    this.#host.ready(this.#connection({ pid, userAgent: textIn(recordIn(answer)?.['userAgent']) }));
  }

  #connection(server: CodexServer): CodexConnection {
    const lost = (): FailureFacts | undefined => this.#lost;
    const peer = this.#peer;
    return {
      server,
      get lost() {
        return lost();
      },
      get healthy() {
        return peer.healthy;
      },
      request: (method, params, options) => peer.request(method, params, options),
      kill: (facts) => this.#send({ type: 'link.hung', facts }),
    };
  }

  #endedByItself(end: ServerEnd): void {
    const how = isCleanExit(end) ? 'normal' : end.fault === 'message_too_large' ? 'killed' : 'crashed';
    this.#bury(lossFacts(end, this.#errors.lastWords(), 'Codex'), how);
  }

  /** Ends what is left of the process, then the connection. */
  #bury(facts: FailureFacts, how: HowLost): void {
    if (!this.#lose(facts, how)) return;
    void this.#server.terminate(killGraceMs).then(() => {
      this.#gone();
      const end = this.#end();
      this.#send(how === 'normal' ? { type: 'link.closed', end } : { type: 'link.lost', facts, end });
    });
  }

  /** The first reason wins. The owner of the turns hears of it before they end one by one: one incident counts once. */
  #lose(facts: FailureFacts, how: HowLost): boolean {
    if (this.#lost !== undefined) return false;
    this.#lost = facts;
    this.#host.lost(facts, how);
    this.#peer.close(facts);
    this.#server.finish({ ...this.#server.exit, fault: 'abandoned' });
    return true;
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#registered?.ended();
    this.#host.gone(this.#end());
  }

  #end(): ProcessEnd {
    const { pid, exit } = this.#server;
    return { pid, ...exit, elapsedMs: this.#host.clock.now() - this.#startedAt };
  }
}

const endedInStart: FailureFacts = {
  kind: 'crash',
  reason: 'startup_failed',
  message: 'Codex ended',
  outcome: 'unknown',
};

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
