import { workflowKind, type WorkflowMethods } from '../../workflow/workflow.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Gateway } from '../../src/gateway/gatewayTypes.ts';
import type { Fact, FactOf, FactType } from '../../src/policy/facts/facts.ts';
// What is imported at the first use takes real time, which a simulated clock does not wait for.
import '../../workflow/plan.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import type {
  NumberedWorkflowEvent,
  Workflow,
  WorkflowBackend,
  WorkflowItem,
  WorkflowOptions,
  WorkflowPlan,
  WorkflowRun,
  WorkflowRunOptions,
} from '../../workflow/workflowTypes.ts';

export type Backend = WorkflowBackend<string, string, string>;

export interface StartedWorkflow {
  readonly clock: SimulatedClock;
  readonly gateway: Gateway & WorkflowMethods;
  readonly facts: Fact[];
  readonly workflow: Workflow<string, string, string>;
  /** The facts of this type so far. */
  told<T extends FactType>(type: T): FactOf<T>[];
  /** Starts a run and lets it do what takes no time. */
  run(options?: WorkflowRunOptions): Promise<WorkflowRun<string, string>>;
}

/** A workflow of a running gateway on a simulated clock. */
export async function startWorkflow(
  backends: readonly Backend[],
  options: Partial<WorkflowOptions<string, string, string>> = {},
): Promise<StartedWorkflow> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ kinds: [workflowKind], clock, random: () => 0.5, alerts: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  const workflow = gateway.workflow<string, string, string>('deploy', { backends, ...options });
  await gateway.start();
  await clock.settle();
  return {
    clock,
    gateway,
    facts,
    workflow,
    told: <T extends FactType>(type: T) => facts.filter((fact): fact is FactOf<T> => fact.type === type),
    async run(runOptions) {
      const run = workflow.run('input', runOptions);
      await clock.settle();
      return run;
    },
  };
}

export const item = (
  id: string,
  dependencies: readonly string[] = [],
  more: Partial<WorkflowItem> = {},
): WorkflowItem => ({
  id,
  action: `do ${id}`,
  dependencies,
  ...more,
});

export const planOf = (...items: readonly WorkflowItem[]): WorkflowPlan => ({ success: true, items });

/** A backend that plans these items and does each at once. */
export function backend(name: string, items: readonly WorkflowItem[], more: Partial<Backend> = {}): Backend {
  return { name, plan: () => planOf(...items), item: ({ id }) => `${id} by ${name}`, ...more };
}

/** A promise that only an abort ends, by rejecting. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    if (signal.aborted) reject(signal.reason as Error);
  });
}

export const never = (): Promise<never> => new Promise(() => undefined);

export function failing(kind: 'transient' | 'permanent' | 'auth', message: string = kind): never {
  const status = { transient: 503, permanent: 400, auth: 401 }[kind];
  throw Object.assign(new Error(message), { status });
}

/** All events of a run that has ended. */
export async function eventsOf(run: WorkflowRun<string, string>, after?: number): Promise<NumberedWorkflowEvent[]> {
  const events: NumberedWorkflowEvent[] = [];
  for await (const event of run.events(after)) events.push(event);
  return events;
}
