import type { Subscribers } from '../actors/rpcPeerSubscribers.ts';
import { superviseApproval } from '../approvals.ts';
import type { ConnectionEmitted } from '../machines/connection.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { type Logger, say } from '../policy/logger.ts';
import { recordIn } from '../protocol/agentReport.ts';
import { readNotice } from '../protocol/codex/notifications.ts';
import type { CodexQuestion } from '../protocol/codex/questions.ts';
import type { Runtime } from '../runtime.ts';
import { failedExit } from '../supervisor/exit.ts';
import { type CodexConnectionHost, codexConnectionLogic, type ConnectionSettings } from './codexConnection.ts';
import { drain } from './codexDrain.ts';
import { type LiveConnection, liveConnection } from './codexLive.ts';
import { notStarted, unhealthy, unreadable } from './codexLoss.ts';
import { createQuestions } from './codexQuestions.ts';
import { createTap } from './codexTap.ts';
import { codexTelemetry } from './codexTelemetry.ts';
import type { ThreadState } from './codexThreadState.ts';
import type { CodexState } from './codexTypes.ts';

export interface CodexServerParts {
  readonly runtime: Runtime;
  readonly name: string;
  readonly settings: ConnectionSettings;
  readonly isRunning: () => boolean;
  readonly logger: Logger | undefined;
  /** Who hears the first connection. */
  readonly subscribers: Subscribers;
  readonly newSubscribers: () => Subscribers;
}

/** The app-server of one integration: one process at a time, started when it is needed, never by itself. */
export interface CodexProcess {
  readonly state: CodexState;
  /** The connection of the moment, if it can be used. */
  readonly current: LiveConnection | undefined;
  /** Why the last one ended, or did not come up. */
  readonly lastLoss: FailureFacts | undefined;
  /** Who hears the connection of the moment, or the next one. */
  readonly subscribers: Subscribers;
  /** A connection that can be used, started if need be. Rejects with an `AttemptError`. */
  acquire(): Promise<LiveConnection>;
  /** Ends it in good order. Always resolves. */
  close(): Promise<void>;
}

export function createCodexProcess(parts: CodexServerParts): CodexProcess {
  const { runtime, name, settings, logger, newSubscribers } = parts;
  const { clock, bus, root } = runtime;
  const { process: command, approve, tap } = settings;
  runtime.secrets.learn(command.env);
  const line = tap === undefined ? undefined : createTap(tap, { ...process.env, ...command.env });
  const approver = superviseApproval(
    runtime,
    parts.isRunning,
    `codex:${name}`,
    ({ payload }, context) => (approve === undefined ? nobodyToAsk : approve(payload as CodexQuestion, context)),
    { timeoutMs: settings.approvalMs },
  );
  let count = 0;
  let state: CodexState = 'idle';
  let current: LiveConnection | undefined;
  let childId: string | undefined;
  let starting: Promise<LiveConnection> | undefined;
  let lastLoss: FailureFacts | undefined;
  let { subscribers } = parts;
  const busy = new Set<Promise<unknown>>();
  /** Set while one that was killed is not gone yet: Codex lets no other one write to the threads it holds. */
  let burial: Promise<void> | undefined;

  async function acquire(): Promise<LiveConnection> {
    // What is sent to a hung one is lost, and within 5 s it is known whether it hangs.
    if (current?.suspicion !== undefined) await current.suspicion;
    if (current?.healthy === true) return current;
    if (current !== undefined) {
      // What it says cannot be read. Turns that are under way may still end; without any, another one is better.
      if (busy.size > 0) throw new AttemptError(unhealthy);
      current.kill(unreadable);
      current = undefined;
    }
    if (burial === undefined) return starting ?? begin();
    await burial;
    return acquire();
  }

  /** Who hears of a start and asks for a connection waits for this one. */
  function begin(): Promise<LiveConnection> {
    let run: () => void = () => undefined;
    const promise = new Promise<LiveConnection>((resolve, reject) => {
      run = () => start(resolve, reject, over);
    });
    const over = (): void => {
      if (starting === promise) starting = undefined;
    };
    starting = promise;
    run();
    return promise;
  }

  /** @param over - nobody waits for this one any more. */
  function start(
    resolve: (live: LiveConnection) => void,
    reject: (error: AttemptError) => void,
    over: () => void,
  ): void {
    const number = ++count;
    const id = `codex:${name}:${number}`;
    const startedAt = clock.now();
    const telemetry = codexTelemetry(bus, name, number);
    const heard = subscribers;
    const threads = new Map<string, ThreadState>();
    let made: LiveConnection | undefined;
    let leaving = false;
    let how: 'normal' | 'crashed' | 'killed' = 'killed';
    let loss: FailureFacts | undefined;
    let buried: () => void = () => undefined;
    state = 'handshake';

    const questions = createQuestions({
      clock,
      logger,
      approver,
      telemetry,
      turnOf: (thread) => threads.get(thread)?.turn,
    });
    const host: CodexConnectionHost = {
      clock,
      register: runtime.register,
      line,
      ready(connection) {
        if (leaving) return;
        made = liveConnection({ connection, threads, questions, busy, interruptMs: settings.interruptMs });
        current = made;
        state = 'ready';
        over();
        telemetry.started(connection.server.pid, clock.now() - startedAt);
        resolve(made);
      },
      lost(facts, manner) {
        loss = facts;
        how = manner;
        if (manner === 'killed') {
          burial = new Promise((over) => {
            buried = over;
          });
        }
        end(facts, manner);
      },
      gone({ pid, elapsedMs }) {
        burial = undefined;
        buried();
        if (pid !== undefined) telemetry.stopped(how, loss?.message ?? 'The runtime ended it', elapsedMs);
      },
      notified(method, given, bytes) {
        const notice = readNotice(method, given);
        const params = recordIn(given) ?? {};
        telemetry.notified(method, notice);
        if (notice.kind === 'malformed') {
          say(logger, 'warn', `Codex said ${method} without what it needs; it is dropped`);
          return;
        }
        if (notice.kind === 'other' && !notice.known) say(logger, 'debug', `Codex said ${method.slice(0, 200)}`);
        if (notice.kind === 'requestResolved') questions.resolved(notice.request);
        if (notice.thread !== undefined) threads.get(notice.thread)?.take(method, notice, params, bytes);
        // Of a turn that is under way in it, the last word may still come.
        if (method === 'thread/closed' && threads.get(notice.thread ?? '')?.turn === undefined) {
          threads.delete(notice.thread ?? '');
        }
        heard.publish({ method, params }, bytes);
      },
      asked: (request) => questions.ask(request),
      stray(stream, text) {
        if (stream === 'stdout') say(logger, 'warn', `Codex wrote ${text}`);
        bus.tell({ type: 'process.stray_output', process: id, stream, line: text });
      },
      trouble(facts) {
        say(logger, 'warn', `Codex is unhealthy: ${facts.message}`);
        telemetry.trouble(facts);
        heard.publish({ method: 'app_server_unhealthy', params: { message: facts.message } });
      },
      requested: (request, method, params) => telemetry.requested(request, method, params),
      requestEnded: (ended) => telemetry.requestEnded(ended),
      threw: (error) => say(logger, 'error', 'A callback of the connection to Codex threw', { error }),
      drained() {
        leave();
        if (childId === id && state === 'ready') state = 'draining';
        return drain(clock, threads.values(), busy, settings.process.closeMs);
      },
    };

    /** Who comes now gets another one, before anybody hears of the end of this. */
    const leave = (): void => {
      leaving = true;
      over();
      if (current === made) current = undefined;
      if (subscribers === heard) subscribers = newSubscribers();
    };

    const end = (facts: FailureFacts, manner: 'normal' | 'crashed' | 'killed'): void => {
      leave();
      if (childId === id) state = manner === 'normal' ? 'closed' : 'crashed';
      lastLoss = facts;
      if (manner !== 'normal') telemetry.trouble(facts);
      for (const thread of threads.values()) thread.lost(facts);
      questions.end();
      const method = manner === 'normal' ? 'app_server_closed' : 'app_server_crashed';
      heard.end({ method, params: { reason: facts.reason ?? facts.kind, message: facts.message } });
      reject(new AttemptError(facts));
    };

    childId = id;
    try {
      root.startChild({
        id,
        logic: codexConnectionLogic(settings, host),
        input: {
          command: command.command,
          handshakeMs: command.handshakeMs,
          lostOutput: (facts: FailureFacts) => failedExit(new AttemptError(facts)),
        },
        // Nobody but the next thread or turn brings it back.
        restart: 'temporary',
        shutdown: 3 * command.closeMs + 3000,
        onStart: (ref) => {
          ref.on('*', (event: unknown) => bus.tell({ ...(event as ConnectionEmitted), process: id }));
        },
        // Of an end that nobody told, as when its actor is stopped in its start.
        onExit: ({ error }) => {
          if (loss === undefined) end(notStarted(name, error), 'crashed');
        },
      });
    } catch (error) {
      state = 'crashed';
      over();
      reject(new AttemptError(notStarted(name, error)));
    }
  }

  return {
    get state() {
      return state;
    },
    get current() {
      return current;
    },
    get lastLoss() {
      return lastLoss;
    },
    get subscribers() {
      return subscribers;
    },
    acquire,
    async close() {
      if (childId !== undefined) await root.stopChild(childId);
    },
  };
}

const nobodyToAsk = { decision: 'decline', reason: 'Nobody is there to approve' } as const;
