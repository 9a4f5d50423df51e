import { type AttemptContext, type CallOptions, CallableIntegration, type Fallback } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { FailureFacts, FailureReason, Outcome } from '../../src/policy/failures/face.ts';
import { healthMs } from './protocol/requests.ts';
import { superviseIntegration } from '../../src/runtime/face.ts';
import type { RunningTurn } from './codexRunningTurn.ts';
import type { CodexScope } from './codexOptions.ts';
import type { CodexProcess } from './codexServer.ts';

type Work = (context: AttemptContext) => Promise<unknown>;

/** Options of a piece of work for its call. */
export interface CallCodexOptions<T> extends Omit<CallOptions<unknown, T>, 'maxAttempts' | 'backoff' | 'fallback'> {
  readonly fallback?: Fallback<unknown, T> | undefined;
}

/** The integration over one app-server, whose calls are turns. */
export class CodexCalls {
  readonly integration: CallableIntegration<Work, unknown>;
  /** The turns that calls are at, for what is known of them when they run out of time. */
  readonly #turns = new WeakMap<object, RunningTurn>();

  constructor({ runtime, name, settings, policy }: CodexScope, server: Pick<CodexProcess, 'acquire' | 'close'>) {
    const path = superviseIntegration<Work, unknown>(runtime, {
      name,
      about: { type: 'codex', provider: 'openai' },
      policy,
      // In good order, for the next call to start another one.
      onRestart: () => void server.close(),
      operation: (work, context) => work(context),
      describeTimeout,
      // The probe asks whether the app-server answers; a turn that probed would have all others refused until it ends.
      probe: async ({ signal }) => {
        const live = await server.acquire();
        await live.request('thread/list', { limit: 1 }, { limitMs: healthMs, signal });
      },
      amendTimeout: (facts, { call }) => timedOut(facts, this.#turns.get(call)),
    });
    this.integration = new CallableIntegration(path, runtime.policies.effectOf(name, settings.effect));
  }

  /**
   * Does one piece of work as a call of the integration.
   * @throws TypeError or RangeError that names the first wrong option and its value.
   */
  call<T>(work: (context: AttemptContext) => Promise<T>, options: CallCodexOptions<T>): Promise<Outcome<T>> {
    // A call is one attempt whatever the policy says: an input that was sent twice would be there twice.
    return this.integration.call(work, { ...options, maxAttempts: 1 }) as Promise<Outcome<T>>;
  }

  /** A call has come to its turn. */
  begun({ call }: AttemptContext, turn: RunningTurn): void {
    this.#turns.set(call, turn);
  }
}

/** Describes the limit that a turn ran into. */
export function describeTimeout(reason: FailureReason, limitMs: number): string {
  const limit = formatDuration(limitMs);
  return reason === 'idle_timeout' ? `Codex made no progress for ${limit}` : `Codex was not done within ${limit}`;
}

/**
 * A turn that ran nothing has had no effect; why Codex kept trying is worth more than how long. A turn is interrupted by its id: before Codex
 * has named it nothing is there to interrupt.
 */
export function timedOut(facts: FailureFacts, turn: RunningTurn | undefined): FailureFacts {
  if (turn === undefined) return facts;
  const { lastRetry, effects } = turn;
  const interrupted = turn.id === undefined ? '' : '; the turn is interrupted';
  const said = lastRetry === undefined ? '' : `; Codex said last: ${lastRetry}`;
  const message = `${facts.message}${interrupted}${said}`;
  return { ...facts, message, outcome: effects === 'none' ? 'failed' : 'unknown' };
}
