import type { Subscribers } from './rpc/rpcPeerSubscribers.ts';
import type { RequestEnd } from './rpc/pendingRequest.ts';
import type { IncomingRequest } from './rpc/rpcPeer.ts';
import type { Approver } from '../../src/integrations/approvals/face.ts';
import type { ConnectionEmitted, ProcessEnd } from '../../src/machines/face.ts';
import type { RegisterChild } from '../../src/policy/records/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { say } from '../../src/policy/text/face.ts';
import { recordIn } from '../../src/protocol/face.ts';
import { BegunCommands } from './protocol/begunCommands.ts';
import { readNotice } from './protocol/notifications.ts';
import { failedExit } from '../../src/supervisor/face.ts';
import { codexConnectionLogic, type CodexLink, type CodexLinkHost, type HowLost } from './codexLink.ts';
import { LiveConnection } from './codexLive.ts';
import { notStarted } from './codexLoss.ts';
import { Questions, type RunScope } from './codexQuestions.ts';
import type { CodexScope } from './codexOptions.ts';
import { codexTelemetry } from './codexTelemetry.ts';
import type { ThreadState } from './codexThreadState.ts';
import type { CodexServer } from './codexTypes.ts';

/** Owner that decides for the app-server about one of its processes. None of these may throw. */
interface CodexRunOwner {
  readonly approver: Approver;
  /** Gets every line that passes, where it is to be kept. */
  readonly line: CodexLinkHost['line'];
  /** Work that an end in good order waits for. */
  readonly busy: Set<Promise<unknown>>;
  ready(live: LiveConnection): void;
  /** It can be used no more, whatever becomes of it. May be told again. */
  left(): void;
  draining(): void;
  ended(facts: FailureFacts, how: HowLost): void;
  /** It was killed; resolves once it is gone. */
  burying(gone: Promise<void>): void;
  /** It is gone. */
  gone(): void;
}

/** Process of the app-server, from its start to its end. */
export class CodexRun implements CodexLinkHost {
  readonly id: string;
  readonly clock: Clock;
  readonly register: RegisterChild | undefined;
  readonly line: CodexLinkHost['line'];
  readonly #scope: RunScope;
  readonly #owner: CodexRunOwner;
  readonly #subscribers: Subscribers;
  readonly #questions: Questions;
  readonly #startedAt: number;
  #isLeaving = false;
  #how: HowLost = 'killed';
  #loss: FailureFacts | undefined = undefined;
  #buried: () => void = () => undefined;

  /** @param number - of its process, from 1. */
  constructor(codex: CodexScope, number: number, owner: CodexRunOwner, subscribers: Subscribers) {
    const { runtime, name } = codex;
    const { clock, bus } = runtime;
    this.id = `codex:${name}:${number}`;
    this.clock = clock;
    this.register = runtime.register;
    this.line = owner.line;
    const { approver, busy } = owner;
    const telemetry = codexTelemetry(bus, name, number);
    this.#scope = { codex, approver, telemetry, threads: new Map(), begun: new BegunCommands(), busy };
    this.#owner = owner;
    this.#subscribers = subscribers;
    this.#startedAt = clock.now();
    this.#questions = new Questions(this.#scope);
  }

  /** @throws Error when it cannot be started at all. */
  start(): void {
    const { runtime, settings, name } = this.#scope.codex;
    const { command, handshakeMs, closeMs } = settings.process;
    runtime.root.startChild({
      id: this.id,
      logic: codexConnectionLogic(this.#scope.codex, this),
      input: { command, handshakeMs, lostOutput: (facts: FailureFacts) => failedExit(new AttemptError(facts)) },
      // Nothing but the next thread or turn brings it back.
      restart: 'temporary',
      shutdown: 3 * closeMs + 3000,
      onStart: (ref) => {
        ref.on('*', (event: unknown) => runtime.bus.tell({ ...(event as ConnectionEmitted), process: this.id }));
      },
      // An end that nobody told is noted here, as when its actor is stopped in its start.
      onExit: ({ error }) => {
        if (this.#loss === undefined) this.#end(notStarted(name, error), 'crashed');
      },
    });
  }

  ready(link: CodexLink, server: CodexServer): void {
    if (this.#isLeaving) return;
    this.#owner.ready(new LiveConnection(link, server, this.#questions, this.#scope));
    this.#scope.telemetry.started(server.pid, this.clock.now() - this.#startedAt);
  }

  lost(facts: FailureFacts, how: HowLost): void {
    this.#loss = facts;
    this.#how = how;
    if (how === 'killed') this.#owner.burying(new Promise((resolve) => (this.#buried = resolve)));
    this.#end(facts, how);
  }

  gone({ pid, elapsedMs }: ProcessEnd): void {
    this.#owner.gone();
    this.#buried();
    const message = this.#loss?.message ?? 'The runtime ended it';
    if (pid !== undefined) this.#scope.telemetry.stopped(this.#how, message, elapsedMs);
  }

  notified(method: string, given: unknown, bytes: number): void {
    const { codex, threads, begun, telemetry } = this.#scope;
    const { logger } = codex;
    const notice = readNotice(method, given);
    const params = recordIn(given) ?? {};
    telemetry.notified(method, notice);
    if (notice.kind === 'malformed') {
      say(logger, 'warn', `Codex said ${method} without what it needs; it is dropped`);
      return;
    }
    if (notice.kind === 'other' && !notice.known) say(logger, 'debug', `Codex said ${method.slice(0, 200)}`);
    if (notice.kind === 'requestResolved') this.#questions.resolved(notice.request);
    begun.take(notice);
    if (notice.thread !== undefined) threads.get(notice.thread)?.take(method, notice, params, bytes);
    // The last word of a turn that is under way in it may still come.
    if (method === 'thread/closed' && threads.get(notice.thread ?? '')?.turn === undefined) {
      threads.delete(notice.thread ?? '');
    }
    this.#subscribers.publish({ method, params }, bytes);
  }

  asked(request: IncomingRequest): void {
    this.#questions.ask(request);
  }

  stray(stream: 'stdout' | 'stderr', text: string): void {
    if (stream === 'stdout') say(this.#scope.codex.logger, 'warn', `Codex wrote ${text}`);
    this.#scope.codex.runtime.bus.tell({ type: 'process.stray_output', process: this.id, stream, line: text });
  }

  trouble(facts: FailureFacts): void {
    const { message } = facts;
    say(this.#scope.codex.logger, 'warn', `Codex is unhealthy: ${message}`);
    this.#scope.telemetry.trouble(facts);
    this.#subscribers.publish({ method: 'app_server_unhealthy', params: { message } });
  }

  requested(request: number, method: string, params: unknown): void {
    this.#scope.telemetry.requested(request, method, params);
  }

  requestEnded(ended: RequestEnd): void {
    this.#scope.telemetry.requestEnded(ended);
  }

  threw(error: unknown): void {
    say(this.#scope.codex.logger, 'error', 'A callback of the connection to Codex threw', { error });
  }

  drained(): Promise<void> {
    this.#leave();
    this.#owner.draining();
    return drain(
      this.clock,
      this.#scope.threads.values(),
      this.#owner.busy,
      this.#scope.codex.settings.process.closeMs,
    );
  }

  /** A caller that comes now gets another one, before anybody hears of the end of this. */
  #leave(): void {
    this.#isLeaving = true;
    this.#owner.left();
  }

  #end(facts: FailureFacts, how: HowLost): void {
    this.#leave();
    this.#owner.ended(facts, how);
    if (how !== 'normal') this.#scope.telemetry.trouble(facts);
    for (const thread of this.#scope.threads.values()) thread.lost(facts);
    this.#questions.end();
    const method = how === 'normal' ? 'app_server_closed' : 'app_server_crashed';
    this.#subscribers.end({ method, params: { reason: facts.reason ?? facts.kind, message: facts.message } });
  }
}

/** Has turns end and threads take no more input. Resolves when the work has ended, however it did, or at the limit in ms. */
async function drain(
  clock: Clock,
  threads: Iterable<ThreadState>,
  work: Iterable<Promise<unknown>>,
  limitMs: number,
): Promise<void> {
  for (const thread of threads) {
    thread.closed = true;
    thread.turn?.cancel(new Error('Codex is being stopped'));
  }
  const ended = Promise.all(work).catch(() => undefined);
  await inTime(ended, { clock, limitMs });
}
