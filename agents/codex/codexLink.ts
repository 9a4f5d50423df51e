import {
  McpProcess,
  type ServerEnd,
  createStderrTail,
  isCleanExit,
  lossFacts,
  withStderr,
} from '../../src/actors/mcp/face.ts';
import { type ProcessLink, connectionOver, killGraceMs, valueHider } from '../../src/actors/process/face.ts';
import { type IncomingRequest, RpcPeer } from './rpc/rpcPeer.ts';
import type { RequestEnd, RequestOptions } from './rpc/pendingRequest.ts';
import type { ConnectionEvent, ProcessEnd, connectionMachine } from '../../src/machines/face.ts';
import type { RegisterChild, RegisteredChild } from '../../src/policy/records/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { requestFailure } from './protocol/codexFailures.ts';
import { maxMalformedLines } from './protocol/requests.ts';
import { recordIn, textIn } from '../../src/protocol/face.ts';
import { startupFacts } from './codexLoss.ts';
import type { CodexSettings } from './codexOptions.ts';
import type { CodexScope } from './codexOptions.ts';
import type { CodexServer } from './codexTypes.ts';

/** Loss of a connection: its process ended as it was asked to, by itself, or by us. */
export type HowLost = 'normal' | 'crashed' | 'killed';

/** Listeners of a connection. None of these may throw. */
export interface CodexLinkHost {
  readonly clock: Clock;
  readonly register: RegisterChild | undefined;
  ready(link: CodexLink, server: CodexServer): void;
  /** Told once, when it can no longer be used or did not come up; before what is in flight ends and before the process is gone. */
  lost(facts: FailureFacts, how: HowLost): void;
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

/** The name and version we give the server. */
const clientInfo = { name: 'unwedge', title: 'unwedge', version: '0.1.0' } as const;

/** The connection machine over an app-server's process. An actor that is stopped without having ended gets everything killed at once. */
export function codexConnectionLogic(
  scope: Pick<CodexScope, 'settings' | 'policy'>,
  host: CodexLinkHost,
): typeof connectionMachine {
  return connectionOver((send) => new CodexLink(scope, host, send));
}

/** The process of an app-server and the conversation with it, from its start until it is gone; it can be used once it is told as ready. */
export class CodexLink implements ProcessLink {
  readonly #settings: CodexSettings;
  readonly #host: CodexLinkHost;
  readonly #send: (event: ConnectionEvent) => void;
  readonly #startedAt: number;
  readonly #hide: (text: string) => string;
  readonly #errors: ReturnType<typeof createStderrTail>;
  readonly #process: McpProcess;
  readonly #peer: RpcPeer;
  #ready = false;
  #lost: FailureFacts | undefined = undefined;
  #registered: RegisteredChild | undefined = undefined;
  #isGone = false;

  constructor(
    { settings, policy }: Pick<CodexScope, 'settings' | 'policy'>,
    host: CodexLinkHost,
    send: (event: ConnectionEvent) => void,
  ) {
    this.#settings = settings;
    this.#host = host;
    this.#send = send;
    this.#startedAt = host.clock.now();
    this.#hide = valueHider(settings.process.env);
    this.#errors = createStderrTail(host.clock, this.#hide, (line) => host.stray('stderr', line));
    this.#process = this.#createProcess();
    this.#peer = this.#createPeer(policy.maxInFlight);
    void this.#connect();
  }

  /** Why it can no longer be used, once it cannot. */
  get lost(): FailureFacts | undefined {
    return this.#lost;
  }

  /** True while all that comes from it are messages. */
  get healthy(): boolean {
    return this.#peer.healthy;
  }

  /** Rejects with an `AttemptError` whose facts say what is known. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#peer.request(method, params, options);
  }

  /** Has the app-server killed, and all it started, for this reason. */
  hung(facts: FailureFacts): void {
    this.#send({ type: 'link.hung', facts });
  }

  close(): void {
    void this.#host.drained().then(() => {
      // A connection lost already is being buried, and says so itself.
      if (!this.#lose(stopped, 'normal')) return;
      void this.#process.close().then(() => {
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
    this.#process.killNow();
    this.#gone();
  }

  #createProcess(): McpProcess {
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
        if (this.#ready && this.#process.end !== undefined) this.#endedByItself(this.#process.end);
        else this.#peer.close(endedInStart);
      },
    });
  }

  #createPeer(maxInFlight: number): RpcPeer {
    const host = this.#host;
    const { clock } = host;
    const { process } = this.#settings;
    return new RpcPeer({
      clock,
      write: (line) => this.#process.write(line),
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
        tooLarge: () => this.#process.finish({ fault: 'message_too_large' }),
        requested: (id, method, params) => host.requested(id, method, params),
        ended: (end) => host.requestEnded(end),
        ...(host.line !== undefined && { line: host.line }),
        threw: (error) => host.threw(error),
      },
    });
  }

  /** Starts the process and shakes hands. Never rejects. */
  async #connect(): Promise<void> {
    const server = this.#process;
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
    this.#host.ready(this, { pid, userAgent: textIn(recordIn(answer)?.['userAgent']) });
  }

  #endedByItself(end: ServerEnd): void {
    const how = isCleanExit(end) ? 'normal' : end.fault === 'message_too_large' ? 'killed' : 'crashed';
    this.#bury(lossFacts(end, this.#errors.lastWords(), 'Codex'), how);
  }

  /** Ends what is left of the process, then the connection. */
  #bury(facts: FailureFacts, how: HowLost): void {
    if (!this.#lose(facts, how)) return;
    void this.#process.terminate(killGraceMs).then(() => {
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
    this.#process.finish({ ...this.#process.exit, fault: 'abandoned' });
    return true;
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#registered?.ended();
    this.#host.gone(this.#end());
  }

  #end(): ProcessEnd {
    const { pid, exit } = this.#process;
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
