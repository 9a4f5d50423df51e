import { timedOut } from './rpc/pendingRequest.ts';
import type { Clock } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts, type Outcome } from '../../src/policy/failures/face.ts';
import { recordIn, textIn } from '../../src/protocol/face.ts';
import { healthMs, requestLimitMs } from './protocol/requests.ts';
import type { CodexCalls } from './codexCalls.ts';
import type { LateCodex } from './codexLate.ts';
import type { LiveConnection } from './codexLive.ts';
import { createRequests, type RunRequest } from './codexRequests.ts';
import type { CodexScope } from './codexOptions.ts';
import { createCodexThread } from './codexThread.ts';
import { readThread } from './protocol/threads.ts';
import type { CodexHealth, CodexServer, CodexThread, CodexThreadOptions } from './codexTypes.ts';

type Params = Readonly<Record<string, unknown>>;

interface AskOptions {
  /** In ms. @defaultValue that of the method */
  readonly limitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Requests to one app-server, on a connection that is started if need be. Options are checked by then. */
export class CodexClient {
  readonly #scope: CodexScope;
  readonly #server: LateCodex;
  readonly #calls: CodexCalls;
  readonly #run: RunRequest;

  constructor(scope: CodexScope, server: LateCodex, calls: CodexCalls) {
    this.#scope = scope;
    this.#server = server;
    this.#calls = calls;
    this.#run = createRequests(scope);
  }

  connect(): Promise<Outcome<CodexServer>> {
    return this.#run('initialize', undefined, async () => (await this.#server.acquire()).server);
  }

  /** Sends one request, whose answer is read by `read`. */
  ask<T>(
    method: string,
    params: Params,
    { limitMs = requestLimitMs(method, params), signal }: AskOptions,
    read: (result: unknown, live: LiveConnection) => T,
  ): Promise<Outcome<T>> {
    const { clock } = this.#scope.runtime;
    const thread = method === 'turn/start' ? textIn(params['threadId']) : undefined;
    const send = async (live: LiveConnection, leftMs: number): Promise<T> => {
      const asked = (): Promise<unknown> => live.request(method, params, { limitMs: leftMs, signal });
      return read(await (thread === undefined ? asked() : live.thread(thread).begin(asked, turnOf)), live);
    };
    const request = { method, limitMs, clock, acquire: () => this.#server.acquire(), send };
    return this.#run(method, signal, () => sendRequest(request));
  }

  /** A request of the caller's own; what would be understood in another way than it was meant is refused. */
  request(method: string, params: Params, options: AskOptions): Promise<Outcome<unknown>> {
    const refused = refusedHere(method, params, this.#server.current);
    if (refused !== undefined) return this.#run(method, undefined, () => Promise.reject(new AttemptError(refused)));
    return this.ask(method, params, options, (result) => result);
  }

  openThread(
    method: 'thread/start' | 'thread/resume',
    { signal, params, ...rest }: CodexThreadOptions,
    own: Params,
  ): Promise<Outcome<CodexThread>> {
    const given = Object.entries(rest).filter(([, value]) => value !== undefined);
    return this.ask(method, { ...params, ...Object.fromEntries(given), ...own }, { signal }, (result, live) => {
      const answer = recordIn(result);
      const record = readThread(answer?.['thread']);
      if (record === undefined) throw new AttemptError(unreadable(method));
      const state = live.thread(record.id);
      if (method === 'thread/resume') {
        const status = recordIn(recordIn(answer?.['thread'])?.['status'])?.['type'];
        state.resumed(status === 'active' ? record.turns.at(-1)?.id : undefined);
      }
      return createCodexThread(
        { codex: this.#scope, calls: this.#calls, run: this.#run, live, state },
        { model: textIn(answer?.['model']), turns: record.turns },
      );
    });
  }

  async health(): Promise<CodexHealth> {
    const { clock } = this.#scope.runtime;
    const live = this.#server.current;
    if (live === undefined) {
      return { status: 'unhealthy', reason: this.#server.lastLoss?.message ?? 'The app-server is not running' };
    }
    if (!live.healthy) return { status: 'unhealthy', reason: 'What the app-server writes are no messages' };
    const askedAt = clock.now();
    try {
      await live.request('thread/list', { limit: 1 }, { limitMs: healthMs });
      return { status: 'healthy', elapsedMs: Math.round(clock.now() - askedAt) };
    } catch (error) {
      return { status: 'unhealthy', reason: error instanceof AttemptError ? error.facts.message : 'unknown' };
    }
  }
}

/** Refuses what must not be asked, and would otherwise be understood in another way than it was meant. */
function refusedHere(method: string, params: Params, live: LiveConnection | undefined): FailureFacts | undefined {
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

/** A request for which an app-server may be replaced. */
interface CodexRequest<T> {
  readonly method: string;
  /** Limit on its answer, in ms, from the first time it is sent; it holds for both times together. */
  readonly limitMs: number;
  readonly clock: Clock;
  readonly acquire: () => Promise<LiveConnection>;
  readonly send: (live: LiveConnection, limitMs: number) => Promise<T>;
}

/**
 * Sends a request; one that may be repeated is asked of the next app-server when the first was hung and was killed for it.
 * Rejects with an {@link AttemptError}.
 */
async function sendRequest<T>({ method, limitMs, clock, acquire, send }: CodexRequest<T>): Promise<T> {
  const repeatable = isRepeatable(method);
  const live = await acquire();
  const deadline = clock.now() + limitMs;
  // At half of the limit: the other half is for the sign of life, the next app-server and its answer.
  const suspicion = repeatable
    ? clock.setTimeout(() => void live.suspect(), limitMs / 2, { running: true })
    : undefined;
  try {
    return await send(live, limitMs);
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    if (error.facts.kind === 'timeout') void live.suspect();
    if (!repeatable || error.facts.reason !== 'hang') throw error;
  } finally {
    clock.clearTimeout(suspicion);
  }
  const late = new AttemptError(timedOut(method, limitMs));
  const again = async (): Promise<T> => {
    const next = await acquire();
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) throw late;
    return send(next, leftMs);
  };
  return before(deadline, clock, again(), late);
}

/** Tells whether asking the next app-server too changes nothing: a thread is resumed in the one that has died, too, and the rest reads. */
function isRepeatable(method: string): boolean {
  return method === 'thread/resume' || method.endsWith('/list') || method.endsWith('/read');
}

async function before<T>(deadline: number, clock: Clock, work: Promise<T>, late: AttemptError): Promise<T> {
  let expire: () => void = () => undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    expire = () => reject(late);
  });
  const timer = clock.setTimeout(() => clock.nextTurn(expire), Math.max(0, deadline - clock.now()), { running: true });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clock.clearTimeout(timer);
  }
}
