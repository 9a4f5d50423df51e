import { functionForms } from '../../src/calls/reconcile/requestForms.ts';
import { createActor } from 'xstate';
import { type Operation } from '../../src/calls/operation.ts';
import { CallPath } from '../../src/calls/callPath.ts';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import { SignalFanout } from '../../src/calls/signalFanout.ts';
import { integrationMachine } from '../../src/machines/integration.ts';
import { sessionMachine, type SessionRef } from '../../src/machines/session.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { checkToolCallRetry, type ToolCallRetryOptions } from '../../src/policy/toolCallRetry.ts';
import { SupervisedSession } from '../../src/sessions/supervisedSession.ts';
import type { SessionOptions } from '../../src/sessions/sessionOptions.ts';
import { indexedScheduler } from '../../src/supervisor/scheduler.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { readTools, type ToolOptions } from '../../src/policy/toolOptions.ts';
import { createToolPort, type ToolTarget } from '../../src/sessions/toolPort.ts';
import { RecordedFacts } from './facts.ts';

export interface StartedSession {
  readonly clock: SimulatedClock;
  readonly facts: RecordedFacts;
  readonly deadlines: DeadlineQueue;
  readonly session: SupervisedSession;
  /** Starts a further incarnation of the session's actor. */
  incarnate(): SessionRef;
  /** Adds an integration that sessions can call as a tool; its operation gets `{tool, input}`. */
  tool(
    name: string,
    operation: Operation<never, unknown>,
    more?: { policy?: PolicyInput; tools?: Record<string, ToolOptions> },
  ): CallPath<unknown, unknown>;
}

interface StartedBy {
  readonly kept?: boolean;
  readonly clean?: ((text: string) => string) | undefined;
  readonly toolCallRetry?: ToolCallRetryOptions;
}

/** A session and its tools on a simulated clock. */
export function startSession(
  options: SessionOptions,
  facts = new RecordedFacts(),
  { toolCallRetry, ...more }: StartedBy = {},
): StartedSession {
  const clock = new SimulatedClock();
  const deadlines = new DeadlineQueue(clock);
  const signals = new SignalFanout();
  const targets = new Map<string, ToolTarget>();
  const tools = createToolPort(targets, checkToolCallRetry(toolCallRetry), clock);
  const session = new SupervisedSession({ id: 'agent:main', clock, deadlines, facts, tools, ...more }, options);
  let incarnation = 0;

  function incarnate(): SessionRef {
    const ref = createActor(sessionMachine, { input: { session: 'agent:main', ...session.limits } });
    ref.system.scheduler = indexedScheduler(clock);
    ref.subscribe({ error: () => undefined });
    session.attach(ref, ++incarnation);
    ref.start();
    return ref;
  }
  incarnate();

  return {
    clock,
    facts,
    deadlines,
    session,
    incarnate,
    tool(name, operation, more = {}) {
      const policy = resolvePolicy(name, more.policy);
      const path = new CallPath<unknown, unknown>({
        name,
        policy,
        operation: operation as Operation<unknown, unknown>,
        clock,
        random: () => 0.5,
        facts,
        deadlines,
        signals,
      });
      const ref = createActor(integrationMachine, { input: { name, breaker: policy.breaker } });
      path.attach(ref);
      ref.start();
      targets.set(name, {
        path,
        effect: undefined,
        forms: functionForms,
        tools: new Map(Object.entries(readTools(name, more.tools))),
        request: (tool, input) => ({ tool, input }),
      });
      return path;
    },
  };
}
