import type { AttemptContext } from '../calls/operation.ts';
import { CallableIntegration } from '../calls/integration.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../policy/failure.ts';
import type { Logger } from '../policy/logger.ts';
import {
  anyObject,
  anything,
  duration,
  integer,
  type Key,
  type KeysOf,
  name as anyName,
} from '../policy/optionKeys.ts';
import { readOptions, readValue } from '../policy/readOptions.ts';
import { recordIn, textIn } from '../protocol/agentReport.ts';
import { healthMs, requestLimitMs } from '../protocol/codex/requests.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
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

/** What a host makes of a Codex. */
export interface CodexHost {
  /** Where its diagnostics go. */
  readonly logger: Logger | undefined;
  /** Ends what was made for this Codex alone. @defaultValue the app-server */
  readonly close?: (() => Promise<void>) | undefined;
}

/** What a thread is begun with, but for what an agent says of itself. */
export const threadKeys = {
  modelProvider: anything,
  approvalPolicy: anything,
  sandbox: anything,
  baseInstructions: anything,
  developerInstructions: anything,
  config: anything,
  params: anything,
};

const ownThreadKeys = { ...threadKeys, cwd: anything, model: anything, signal: anything };
const listKeys = { limit: integer(), cursor: anything };
const requestKeys = {
  limitMs: duration(),
  signal: anything as Key<AbortSignal | undefined>,
} satisfies KeysOf<CodexRequestOptions>;
const streamKeys = { methods: anything, limit: anything, signal: anything };

/**
 * An integration over Codex's app-server: each turn is a call of it, with one attempt, behind one breaker. The app-server
 * is a temporary child of the root supervisor, started by the first thread or turn that needs it, and by the next one after a crash.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseCodex(
  runtime: Runtime,
  name: string,
  options: CodexOptions,
  { logger, close }: CodexHost,
): Codex {
  const settings = checkCodexOptions(name, options, runtime.environment);
  const base = runtime.policies.policyOf(name, settings.policy, 'codex');
  // Letting go of a turn takes up to its limit; only then is it one that would not end.
  const policy = { ...base, abortGraceMs: Math.max(base.abortGraceMs, settings.interruptMs + 2000) };
  const { clock } = runtime;
  const server = createLateCodex({
    runtime,
    name,
    settings: { ...settings, maxInFlight: policy.maxInFlight },
    logger,
  });

  /** The turns that calls are at, for what is known of them when they run out of time. */
  const turns = new WeakMap<object, RunningTurn>();

  const path = superviseIntegration<Work, unknown>(runtime, {
    name,
    about: { type: 'codex', provider: 'openai' },
    policy,
    // In good order, for the next call to start another one.
    onRestart: () => void server.close(),
    operation: (work, context) => work(context),
    describeTimeout,
    // Whether the app-server answers; a turn that probed would have all others refused until it ends.
    probe: async ({ signal }) => {
      const live = await server.acquire();
      await live.request('thread/list', { limit: 1 }, { limitMs: healthMs, signal });
    },
    amendTimeout: (facts, { call: of }) => timedOut(facts, turns.get(of)),
  });
  const integration = new CallableIntegration(path, runtime.policies.effectOf(name, settings.effect));

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
    {
      limitMs = requestLimitMs(method, params),
      signal,
    }: { readonly limitMs?: number; readonly signal?: AbortSignal | undefined },
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
    readOptions('options', threadOptions, ownThreadKeys);
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

  return {
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
      readValue('id', id, anyName);
      return openThread('thread/resume', threadOptions, { threadId: id });
    },
    listThreads(listOptions = {}) {
      const { limit, cursor } = readOptions('options', listOptions, listKeys);
      const params = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      return ask('thread/list', params, {}, (result) => server.readers.readThreadList(result));
    },
    request(method, params = {}, requestOptions = {}) {
      readValue('method', method, anyName);
      readValue('params', params, anyObject);
      const checkedOptions = readOptions('options', requestOptions, requestKeys);
      const refused = refusedHere(method, params, server.current);
      if (refused !== undefined) return run(method, undefined, () => Promise.reject(new AttemptError(refused)));
      return ask(method, params, checkedOptions, (result) => result);
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
      readValue('method', method, anyName);
      return server.subscribers.listen(method, listener);
    },
    notifications(streamOptions = {}) {
      readOptions('options', streamOptions, streamKeys);
      return server.subscribers.stream(streamOptions);
    },
    close: close ?? (() => server.close()),
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
