import { stackOf } from '../../src/calls/face.ts';
import {
  AttemptError,
  type Failure,
  type FailureFacts,
  type FailureKind,
  type Outcome,
  classify,
  isRetryable,
} from '../../src/policy/failures/face.ts';
import { defaultPolicy } from '../../src/policy/face.ts';
import type { CodexScope } from './codexOptions.ts';

/**
 * Runs what is asked of the app-server beside turns. It is no call of the integration: that a thread was begun says nothing about
 * the model that turns meet, and would hide their failures in a row from the breaker. A failure has its one record all the same.
 */
export type RunRequest = <T>(
  method: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
) => Promise<Outcome<T>>;

/** Requests that are bounded by limits of their own. What they give never rejects. */
export function createRequests({ name, runtime: { bus, clock } }: Pick<CodexScope, 'name' | 'runtime'>): RunRequest {
  let count = 0;

  return async (method, signal, work) => {
    const call = `${name}-request-${++count}`;
    const startedAt = clock.now();
    try {
      return { ok: true, value: await unlessAborted(work, method, signal) };
    } catch (error) {
      const failure = failureOf(name, classify(error, { wallNow: clock.wallNow() }));
      const elapsedMs = clock.now() - startedAt;
      const stack = stackOf(failure.cause);
      bus.tell({
        type: 'call.failed',
        integration: name,
        call,
        label: method,
        failure,
        retryCount: 0,
        elapsedMs,
        stack,
        integrationType: 'codex',
        provider: 'openai',
      });
      return { ok: false, failure };
    }
  };
}

/** Does not wait for work that nobody wants any more, as for an app-server that is being started. */
async function unlessAborted<T>(work: () => Promise<T>, method: string, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw new AttemptError(cancelled(method, signal.reason, 'not_started'));
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new AttemptError(cancelled(method, signal.reason, 'cancelled')));
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Kinds with which nothing was asked of anybody. */
const refusals: ReadonlySet<FailureKind> = new Set(['too_many_requests', 'unavailable']);

function failureOf(integration: string, facts: FailureFacts): Failure {
  const { kind, outcome } = facts;
  const refused = refusals.has(kind) || (kind === 'cancelled' && outcome === 'not_started');
  const retryable = isRetryable(facts, undefined, defaultPolicy.retry.repeatAfter);
  return { ...facts, integration, attempts: refused ? 0 : 1, retryable };
}

function cancelled(method: string, cause: unknown, outcome: 'not_started' | 'cancelled'): FailureFacts {
  return { kind: 'cancelled', message: `${method} was given up`, outcome, cause };
}
