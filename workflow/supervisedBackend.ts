import { type AttemptContext, type CallPath, type CallSettings, attemptFacts, circuitOf } from '../src/calls/face.ts';
import { type Clock, type IntegrationPolicy, RetryBudget } from '../src/policy/face.ts';
import { AttemptError, type FailureFacts, type FailureKind } from '../src/policy/failures/face.ts';
import { formatDuration, limitText } from '../src/policy/text/face.ts';
import { type Runtime, superviseIntegration } from '../src/runtime/face.ts';
import type { WorkflowBackend } from './workflowTypes.ts';

/** Work of a call: its input, as the work knows itself what to do. */
export type Work = (context: AttemptContext) => Promise<unknown>;

/** A backend and its two integrations: one call of the first is a whole run, one of the second an item. */
export interface SupervisedBackend<I, R, S> {
  readonly backend: WorkflowBackend<I, R, S>;
  readonly path: CallPath<Work, unknown>;
  readonly items: CallPath<Work, unknown>;
  /** Tells whether its circuit is open since an opening that has not been asked about: of several runs the one whose failure it was hears of it. */
  tripped(): boolean;
}

/** A backend whose policies have been checked. */
interface CheckedBackend<I, R, S> {
  readonly backend: WorkflowBackend<I, R, S>;
  /** Names of the integration of its whole runs, and of that of its items. */
  readonly name: string;
  readonly itemsName: string;
  readonly whole: IntegrationPolicy;
  readonly each: IntegrationPolicy;
}

/** @throws TypeError or RangeError that names the option of its policies that is wrong. */
export function checkPolicies<I, R, S>(
  { policies }: Pick<Runtime, 'policies'>,
  workflow: string,
  backend: WorkflowBackend<I, R, S>,
): CheckedBackend<I, R, S> {
  const name = `workflow:${workflow}:${backend.name}`;
  const itemsName = `${name}:items`;
  for (const each of [name, itemsName])
    policies.refuseAbout(each, 'part of a workflow', ['effect', 'tools', 'reconcile', 'whenAlive', 'allow', 'deny']);
  const whole = policies.policyOf(name, backend.policy, 'workflow');
  const each = policies.policyOf(itemsName, backend.itemPolicy, 'workflow');
  return { backend, name, itemsName, whole, each };
}

/** Puts a backend under a runtime. */
export function superviseBackend<I, R, S>(
  runtime: Runtime,
  { backend, name, itemsName, whole, each }: CheckedBackend<I, R, S>,
): SupervisedBackend<I, R, S> {
  const path = superviseIntegration<Work, unknown>(runtime, {
    name,
    about: { type: 'workflow' },
    serves: true,
    // A run that fails as a whole goes on with the next backend; its items are what is tried again.
    policy: { ...whole, retry: { ...whole.retry, maxAttempts: 1 } },
    operation: async (work, context) => {
      try {
        return await work(context);
      } catch (error) {
        // Given up before: that it ended because it was told to is no failure of its own, and no late one.
        if (context.signal.aborted) throw error;
        throw new AttemptError(wholeFacts(error, runtime.clock, whole));
      }
    },
    describeTimeout: (reason, limitMs) =>
      reason === 'idle_timeout' && limitMs < whole.limits.attemptMs
        ? `${backend.name} gave no sign of life for ${formatDuration(limitMs)}`
        : `${backend.name} workflow timeout after ${limitText(limitMs)}`,
  });
  let knownUntil: number | undefined;
  return {
    backend,
    path,
    tripped() {
      const { link } = path;
      if (circuitOf(link) !== 'open' || link.openUntil === knownUntil) return false;
      knownUntil = link.openUntil;
      return true;
    },
    items: superviseIntegration<Work, unknown>(runtime, {
      name: itemsName,
      about: { type: 'workflow' },
      serves: true,
      // Items wait for a place: those of one run are bounded by its concurrency.
      policy: { ...each, queueLength: Number.MAX_SAFE_INTEGER },
      operation: async (work, context) => {
        try {
          return await work(context);
        } catch (error) {
          throw new AttemptError(itemFacts(attemptFacts(error, runtime.clock.wallNow(), each.maxPauseMs)));
        }
      },
      amendTimeout: itemFacts,
      // Each item has its attempts, however many others needed theirs.
      retryBudget: new RetryBudget({ capacity: 1, cost: 0 }),
    }),
  };
}

/** Kinds that a call within an item ends with that was refused, or ended before its time: no kind the item's own policy would retry. */
const ofInnerCalls: ReadonlySet<FailureKind> = new Set([
  'circuit_open',
  'too_many_requests',
  'unavailable',
  'watchdog',
]);

/** Items have no circuit of their own: it is the backend's run that is counted. They alone retry, whatever their inner calls met (W-4). */
function itemFacts(facts: FailureFacts): FailureFacts {
  const shouldRetry = facts.shouldRetry ?? (ofInnerCalls.has(facts.kind) ? true : undefined);
  return { ...facts, shouldRetry, breaker: 'ignored' };
}

/** Whatever ended it, a failed run counts one, and keeps the next run from its turn only through the circuit. */
function wholeFacts(error: unknown, clock: Clock, { maxPauseMs }: IntegrationPolicy): FailureFacts {
  const { kind, retryAfterMs, ...facts } = attemptFacts(error, clock.wallNow(), maxPauseMs);
  return {
    ...facts,
    // A backend that aborted something of its own was cancelled by nobody.
    kind: kind === 'cancelled' ? 'unknown' : kind,
    // A pause would make runs wait that another backend can do.
    retryAfterMs: kind === 'rate_limit' ? undefined : retryAfterMs,
    breaker: 'failure',
  };
}

/** The settings of a call that differs from its policy in these alone. */
export function settingsOf(
  { limits, retry }: IntegrationPolicy,
  own: Partial<CallSettings<Work, unknown>>,
): CallSettings<Work, unknown> {
  return {
    ...limits,
    retry,
    effect: undefined,
    label: undefined,
    session: undefined,
    signal: undefined,
    fallback: undefined,
    ...own,
  };
}
