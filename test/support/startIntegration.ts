import { createActor } from 'xstate';
import type { AttemptContext, Operation } from '../../src/calls/operation.ts';
import { CallPath } from '../../src/calls/callPath.ts';
import type { CallPathOptions } from '../../src/calls/callPathOptions.ts';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { CallableIntegration, type Integration } from '../../src/calls/integration.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import { type IntegrationRef, integrationMachine } from '../../src/machines/integration.ts';
import { type FailureKind, AttemptError } from '../../src/policy/failures/failure.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { type Deferred, deferred } from './deferred.ts';
import { RecordedFacts } from './facts.ts';

/** One attempt as the test sees it: it answers when the test says so. */
export interface Seen extends Deferred<string> {
  readonly input: string;
  readonly context: AttemptContext;
}

export interface Started {
  readonly clock: SimulatedClock;
  readonly facts: RecordedFacts;
  readonly deadlines: DeadlineQueue;
  readonly path: CallPath<string, string>;
  readonly integration: Integration<string, string>;
  readonly ref: IntegrationRef;
  /** Attempts in the order of their start. */
  readonly seen: Seen[];
  /** The n-th attempt, from 0. */
  attempt(index: number): Seen;
}

let plainly = false;

/** Has calls of all integrations that are started from here on begin plainly, where they can, also when no other call is under way. */
export function beginPlainly(all: boolean): void {
  plainly = all;
}

/** Tells the machine of each call before it begins, as it has been told where another one is under way. */
function tellBeforehand(path: CallPath<string, string>): void {
  const start = path.start.bind(path);
  path.start = (input, settings, settled) => {
    if (path.link.lastState === 'idle' && settings.signal?.aborted !== true && settings.overallMs > 0) {
      path.link.send({ type: 'calls.changed', attempts: 1, waiting: 0 });
      path.link.flushSoon();
    }
    return start(input, settings, settled);
  };
}

/** An integration on a simulated clock. Without an operation of its own, each attempt waits for the test. */
export function startIntegration(
  policy: PolicyInput = {},
  operation?: Operation<string, string>,
  extra: Partial<CallPathOptions<string, string>> = {},
): Started {
  const clock = new SimulatedClock();
  const facts = new RecordedFacts();
  const deadlines = new DeadlineQueue(clock);
  const seen: Seen[] = [];
  const path = new CallPath<string, string>({
    name: 'kb',
    policy: resolvePolicy('kb', policy),
    operation:
      operation ??
      ((input, context) => {
        const attempt = { input, context, ...deferred<string>() };
        seen.push(attempt);
        return attempt.promise;
      }),
    clock,
    // The middle of every jitter: waits are exactly those of the backoff.
    random: () => 0.5,
    facts,
    deadlines,
    signals: new SignalFanout(),
    ...extra,
  });
  const ref = createActor(integrationMachine, { input: { name: 'kb', breaker: path.policy.breaker } });
  path.attach(ref);
  ref.start();
  if (plainly) tellBeforehand(path);
  return {
    clock,
    facts,
    deadlines,
    path,
    integration: new CallableIntegration(path),
    ref,
    seen,
    attempt: (index) => {
      const found = seen[index];
      if (found === undefined) throw new Error(`There was no attempt ${index}; ${seen.length} were made`);
      return found;
    },
  };
}

/** A failure of the kind given, as an integration throws it. */
export function fault(kind: FailureKind, more: Partial<AttemptError['facts']> = {}): AttemptError {
  return new AttemptError({ kind, message: `${kind} fault`, outcome: 'unknown', ...more });
}
