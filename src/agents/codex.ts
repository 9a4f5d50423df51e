import type { AttemptContext } from '../calls/operation.ts';
import type { CallPath } from '../calls/callPath.ts';
import { Integration } from '../calls/integration.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../policy/failure.ts';
import type { Logger } from '../policy/logger.ts';
import { checkDuration, checkInteger, checkKeys, checkName, checkObject } from '../policy/options.ts';
import { recordIn, textIn } from '../protocol/agentReport.ts';
import { healthMs, requestLimitMs } from '../protocol/codex/requests.ts';
import type { Runtime } from '../runtime.ts';
import { superviseIntegration } from '../superviseIntegration.ts';
import type { RunningTurn } from './codexRunningTurn.ts';
import { describeTimeout, timedOut } from './codexLimits.ts';
import { checkCodexOptions, type CodexOptions } from './codexOptions.ts';
import type { LiveConnection } from './codexLive.ts';
import { createLateCodex } from './codexLate.ts';
import type { CallCodex, CallCodexOptions } from './codexThread.ts';
import { sendRequest } from './codexRepeat.ts';
import { createRequests } from './codexRequests.ts';
import type { Codex, CodexRequestOptions, CodexThread, CodexThreadOptions } from './codexTypes.ts';

type Work = (context: AttemptContext) => Promise<unknown>;

/** Whose runtime it is. */
export interface CodexOwner {
  readonly isRunning: () => boolean;
  readonly logger: Logger | undefined;
  /** Ends what was made for this Codex alone. @defaultValue the app-server */
  readonly close?: (() => Promise<void>) | undefined;
}

/** An app-server under supervision, for who owns the runtime. */
export interface SupervisedCodex {
  readonly codex: Codex;
  /** `restart` also ends the app-server in good order, for the next call to start another one. */
  readonly path: Pick<CallPath<Work, unknown>, 'name' | 'link' | 'stats' | 'busy' | 'restart' | 'drain' | 'stop'>;
}

const threadOptionNames: readonly (keyof CodexThreadOptions)[] = [
  'cwd',
  'model',
  'modelProvider',
  'approvalPolicy',
  'sandbox',
  'baseInstructions',
  'developerInstructions',
  'config',
  'params',
  'signal',
];

/**
 * An integration over Codex's app-server: each turn is a call of it, with one attempt, behind one breaker. The app-server
 * is a temporary child of the root supervisor, started by the first thread or turn that needs it, and by the next one after a crash.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseCodex(
  runtime: Runtime,
  name: string,
  options: CodexOptions,
  { isRunning, logger, close }: CodexOwner,
): SupervisedCodex {
  const settings = checkCodexOptions(name, options, runtime.environment);
  const base = runtime.policies.policyOf(name, settings.policy, 'codex');
  // Letting go of a turn takes up to its limit; only then is it one that would not end.
  const policy = { ...base, abortGraceMs: Math.max(base.abortGraceMs, settings.interruptMs + 2000) };
  const { clock } = runtime;
  const server = createLateCodex({
    runtime,
    name,
    settings: { ...settings, maxInFlight: policy.maxInFlight },
    isRunning,
    logger,
  });

  /** The turns that calls are at, for what is known of them when they run out of time. */
  const turns = new WeakMap<object, RunningTurn>();

  const path = superviseIntegration<Work, unknown>(runtime, {
    name,
    about: { type: 'codex', provider: 'openai' },
    policy,
    operation: (work, context) => work(context),
    describeTimeout,
    // Whether the app-server answers; a turn that probed would have all others refused until it ends.
    probe: async ({ signal }) => {
      const live = await server.acquire();
      await live.request('thread/list', { limit: 1 }, { limitMs: healthMs, signal });
    },
    amendTimeout: (facts, { call: of }) => timedOut(facts, turns.get(of)),
  });
  const integration = new Integration(path, runtime.policies.effectOf(name, settings.effect));

  const run = createRequests({ name, clock, facts: runtime.bus });

  // Not async: a wrong option is thrown at once.
  const call: CallCodex = <T>(
    work: (context: AttemptContext) => Promise<T>,
    callOptions: CallCodexOptions<T> = {},
  ): Promise<Outcome<T>> =>
    // One attempt whatever the policy says: an input that was sent twice would be there twice.
    integration.call(work, { ...callOptions, maxAttempts: 1 }) as Promise<Outcome<T>>;

  /** One request on a connection that is started if need be. */
  function ask<T>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { limitMs = requestLimitMs(method, params), signal }: CodexRequestOptions,
    read: (result: unknown, live: LiveConnection) => T,
  ): Promise<Outcome<T>> {
    const thread = method === 'turn/start' ? textIn(params['threadId']) : undefined;
    const send = async (live: LiveConnection, leftMs: number): Promise<T> => {
      const asked = (): Promise<unknown> => live.request(method, params, { limitMs: leftMs, signal });
      return read(await (thread === undefined ? asked() : live.thread(thread).begin(asked, turnOf)), live);
    };
    const request = { method, limitMs, clock, acquire: () => server.acquire(), send };
    return run(method, signal, () => sendRequest(request));
  }

  function openThread(
    method: 'thread/start' | 'thread/resume',
    threadOptions: CodexThreadOptions,
    own: Readonly<Record<string, unknown>>,
  ): Promise<Outcome<CodexThread>> {
    checkKeys('options', threadOptions, threadOptionNames);
    const { signal, params, ...rest } = threadOptions;
    const given = Object.entries(rest).filter(([, value]) => value !== undefined);
    return ask(method, { ...params, ...Object.fromEntries(given), ...own }, { signal }, (result, live) => {
      const answer = recordIn(result);
      const record = server.readers.readThread(answer?.['thread']);
      if (record === undefined) throw new AttemptError(unreadable(method));
      const state = live.thread(record.id);
      if (method === 'thread/resume') {
        const status = recordIn(recordIn(answer?.['thread'])?.['status'])?.['type'];
        state.resumed(status === 'active' ? record.turns.at(-1)?.id : undefined);
      }
      const model = textIn(answer?.['model']);
      const { interruptMs } = settings;
      return server.createThread({
        live,
        state,
        model,
        history: record.turns,
        call,
        run,
        turns,
        policy,
        interruptMs,
        clock,
      });
    });
  }

  const codex: Codex = {
    name,
    get state() {
      return server.state;
    },
    breaker: integration.breaker,
    get stats() {
      return integration.stats;
    },
    connect: () => run('initialize', undefined, async () => (await server.acquire()).server),
    startThread: (threadOptions = {}) => openThread('thread/start', threadOptions, {}),
    resumeThread(id, threadOptions = {}) {
      checkName('id', id);
      return openThread('thread/resume', threadOptions, { threadId: id });
    },
    listThreads(listOptions = {}) {
      checkKeys('options', listOptions, ['limit', 'cursor']);
      const { limit, cursor } = listOptions;
      if (limit !== undefined) checkInteger('options.limit', limit);
      const params = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      return ask('thread/list', params, {}, (result) => server.readers.readThreadList(result));
    },
    request(method, params = {}, requestOptions = {}) {
      checkName('method', method);
      checkObject('params', params);
      checkKeys('options', requestOptions, ['limitMs', 'signal']);
      if (requestOptions.limitMs !== undefined) checkDuration('options.limitMs', requestOptions.limitMs);
      const refused = refusedHere(method, params, server.current);
      if (refused !== undefined) return run(method, undefined, () => Promise.reject(new AttemptError(refused)));
      return ask(method, params, requestOptions, (result) => result);
    },
    async health() {
      const live = server.current;
      if (live === undefined) {
        return { status: 'unhealthy', reason: server.lastLoss?.message ?? 'The app-server is not running' };
      }
      if (!live.healthy) return { status: 'unhealthy', reason: 'What the app-server writes are no messages' };
      const askedAt = clock.now();
      try {
        await live.request('thread/list', { limit: 1 }, { limitMs: healthMs });
        return { status: 'healthy', elapsedMs: clock.now() - askedAt };
      } catch (error) {
        return { status: 'unhealthy', reason: error instanceof AttemptError ? error.facts.message : 'unknown' };
      }
    },
    on(method, listener) {
      checkName('method', method);
      return server.subscribers.listen(method, listener);
    },
    notifications(streamOptions = {}) {
      checkKeys('options', streamOptions, ['methods', 'limit', 'signal']);
      return server.subscribers.stream(streamOptions);
    },
    close: close ?? (() => server.close()),
  };
  return {
    codex,
    path: {
      name,
      link: path.link,
      get stats() {
        return path.stats;
      },
      restart() {
        path.restart();
        void server.close();
      },
      get busy() {
        return path.busy;
      },
      drain: (order) => path.drain(order),
      stop: () => path.stop(),
    },
  };
}

/** What must not be asked, and would otherwise be understood in another way than it was meant. */
function refusedHere(
  method: string,
  params: Readonly<Record<string, unknown>>,
  live: LiveConnection | undefined,
): FailureFacts | undefined {
  if (method === 'initialize') {
    return { kind: 'protocol', message: 'Already initialized', outcome: 'not_started', breaker: 'ignored' };
  }
  if (method !== 'turn/start') return undefined;
  // Codex would add the input to the turn that is under way.
  return live?.threads.get(textIn(params['threadId']) ?? '')?.obstacle;
}

/** The turn that an answer to `turn/start` is about. */
const turnOf = (answer: unknown): string | undefined => textIn(recordIn(recordIn(answer)?.['turn'])?.['id']);

function unreadable(method: string): FailureFacts {
  return { kind: 'protocol', message: `The answer to ${method} names no thread`, outcome: 'unknown' };
}
