import { randomUUID } from 'node:crypto';
import { type AnyActorRef, fromCallback, fromPromise } from 'xstate';
import { type Deadline, type DrainOrder, isOfWork, refusal } from '../src/calls/face.ts';
import {
  type BackendOrder,
  type WorkflowEmitted,
  workflowMachine,
  type WorkflowMachineEvent,
  type WorkflowMachineInput,
  type WorkflowSlotInput,
} from './runMachine.ts';
import { type IntegrationKind, type Part, type Runtime, defineKind } from '../src/runtime/face.ts';
import { createRun, type OwnedRun } from './run.ts';
import { checkPolicies, type SupervisedBackend, superviseBackend } from './supervisedBackend.ts';
import { type CheckedWorkflow, checkRunOptions, checkWorkflow } from './workflowOptions.ts';
import type { Workflow, WorkflowOptions, WorkflowRun, WorkflowRunOptions } from './workflowTypes.ts';

/** Methods that a gateway has with {@link workflowKind}. */
export interface WorkflowMethods {
  /**
   * Work that is planned and done in items by the first of its backends that can: where one fails the next takes over, with what is done.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  workflow<I, R, S = undefined>(name: string, options: WorkflowOptions<I, R, S>): Workflow<I, R, S>;
}

/**
 * Workflows over the integrations of a gateway.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite', kinds: [workflowKind] });
 * const report = gateway.workflow('report', { backends: [remote, local] });
 */
export const workflowKind: IntegrationKind<WorkflowMethods> = defineKind('workflows', workflowMethods);

function workflowMethods(runtime: Runtime): WorkflowMethods {
  const names = new Set<string>();
  return {
    workflow(name, options) {
      runtime.declare(name);
      if (names.has(name)) throw new RangeError(`The name \`${name}\` is taken by another workflow`);
      const workflow = superviseWorkflow(runtime, name, options);
      names.add(name);
      return workflow;
    },
  };
}

/**
 * Puts a workflow under a runtime, which stops it: each run is a temporary child of the root supervisor.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
function superviseWorkflow<I, R, S>(
  runtime: Runtime,
  name: string,
  options: WorkflowOptions<I, R, S>,
): Workflow<I, R, S> {
  const checked = checkWorkflow(name, options);
  // All of them are checked before anything is declared: a caller that corrects a mistake may use the name.
  const sound = checked.backends.map((backend) => checkPolicies(runtime, name, backend));
  for (const each of sound) for (const taken of [each.name, each.itemsName]) runtime.declare(taken);
  const backends = sound.map((each) => superviseBackend(runtime, each));
  const runs = new WorkflowRuns(runtime, name, checked, backends);
  runtime.join(runs);
  return { name, run: (input, runOptions) => runs.run(input, runOptions) };
}

/** The runs of one workflow, from their order to their end. */
class WorkflowRuns<I, R, S> implements Part {
  readonly #runtime: Runtime;
  readonly #name: string;
  readonly #checked: CheckedWorkflow<I, R, S>;
  readonly #backends: readonly SupervisedBackend<I, R, S>[];
  readonly #live = new Map<string, OwnedRun<R, S>>();
  /** Runs that wait for the start of the runtime, and how each stops waiting. */
  readonly #waiting = new Map<string, () => void>();
  /** The machine of a run, its slots filled; an actor of a run that is over fails. */
  readonly #logic = runLogic<R, S>(({ run }) => this.#liveRun(run));
  #count = 0;
  #draining: DrainOrder | undefined = undefined;

  constructor(
    runtime: Runtime,
    name: string,
    checked: CheckedWorkflow<I, R, S>,
    backends: readonly SupervisedBackend<I, R, S>[],
  ) {
    this.#runtime = runtime;
    this.#name = name;
    this.#checked = checked;
    this.#backends = backends;
  }

  run(input: I, options: WorkflowRunOptions = {}): WorkflowRun<R, S> {
    const { signal, session } = checkRunOptions(options);
    const [workflow, runtime] = [this.#name, this.#runtime];
    // Fit for an address. No run of another process has it: a frontend that comes back after a restart is not given the events of a stranger.
    const id = `${workflow.replace(/[^\w-]+/g, '-')}-${++this.#count}-${randomUUID().slice(0, 8)}`;
    const { concurrency, overallMs, reconcile } = this.#checked;
    const about = { id, workflow, backends: this.#backends, concurrency, overallMs, reconcile, signal, session };
    const ended = (): void => this.#ended(id);
    const run = createRun(runtime, input, { ...about, redact: runtime.redactAnswer, ended });
    this.#live.set(id, run);
    if (signal?.aborted === true) run.fail('cancelled', refusal.cancelled(signal.reason, false));
    else if (runtime.stopped) run.fail('cancelled', { ...refusal.stopped(workflow), outcome: 'not_started' });
    else if (this.#draining !== undefined && !isOfWork(signal)) run.fail('cancelled', refusal.stopping(workflow));
    else if (runtime.running) this.#start(id, run);
    else this.#awaitStart(id, run);
    return run.handle;
  }

  /** Begins what waited for the start. */
  started(): void {
    for (const [id, leave] of [...this.#waiting]) {
      leave();
      const run = this.#live.get(id);
      if (run !== undefined) this.#start(id, run);
    }
  }

  get busy(): boolean {
    return this.#live.size > 0;
  }

  drain(order: DrainOrder): void {
    this.#draining = order;
  }

  /** Ends what has not begun. What runs ends with the runtime. */
  beforeCalls(): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#live.get(id)?.fail('cancelled', { ...refusal.stopped(this.#name), outcome: 'not_started' });
    }
  }

  #liveRun(id: string): OwnedRun<R, S> {
    const found = this.#live.get(id);
    if (found === undefined) throw new Error(`The run ${id} is over`);
    return found;
  }

  #ended(id: string): void {
    this.#live.delete(id);
    this.#waiting.get(id)?.();
    this.#draining?.ended();
  }

  #start(id: string, run: OwnedRun<R, S>): void {
    const name = this.#name;
    const input: WorkflowMachineInput = { run: id, backends: this.#checked.backends.map((backend) => backend.name) };
    try {
      this.#runtime.root.startChild({
        id: `workflow:${id}`,
        logic: this.#logic,
        input,
        restart: 'temporary',
        onStart(ref: AnyActorRef) {
          ref.on('*', (event: unknown) => run.heard(event as WorkflowEmitted));
          run.runs((event) => ref.send(event));
        },
        onExit({ reason, error }) {
          if (error !== undefined) run.fail('failed', { ...refusal.machineLost(name), cause: error });
          // It was not given the time to end in order.
          else if (reason !== 'normal') run.fail('cancelled', refusal.stopped(name));
        },
        details: () => ({ ...run.handle.progress }),
      });
    } catch (error) {
      run.fail('failed', { ...refusal.machineLost(name), cause: error });
    }
  }

  /** As a call to an integration that has not started: for a while, then it is unavailable. */
  #awaitStart(id: string, run: OwnedRun<R, S>): void {
    const { clock, deadlines } = this.#runtime;
    const restartWaitMs = this.#backends[0]?.path.policy.restartWaitMs ?? 0;
    const deadline: Deadline = {
      due: clock.now() + restartWaitMs,
      heapIndex: -1,
      expire: () => run.fail('failed', refusal.unavailable(this.#name, {}, undefined)),
    };
    deadlines.set(deadline);
    this.#waiting.set(id, () => {
      this.#waiting.delete(id);
      deadlines.remove(deadline);
    });
  }
}

/**
 * The machine of a run, its slots filled.
 * @param runOf - the run that an actor is of; throws when it is over.
 */
function runLogic<R, S>(runOf: (input: WorkflowSlotInput) => OwnedRun<R, S>): typeof workflowMachine {
  return workflowMachine.provide({
    actors: {
      call: fromCallback<BackendOrder, WorkflowSlotInput>(({ input, sendBack, receive }) => {
        const call = runOf(input).takeTurn(input.backend).call(sendBack);
        receive((order) => call.order(order));
        return () => call.stop();
      }),
      plan: fromPromise<void, WorkflowSlotInput>(({ input }) => runOf(input).turn.plan()),
      check: fromPromise(({ input }: { input: WorkflowSlotInput }) => runOf(input).turn.check()),
      items: fromCallback<WorkflowMachineEvent, WorkflowSlotInput>(({ input, sendBack }) =>
        runOf(input).turn.items((figures) => sendBack({ type: 'items.changed', ...figures })),
      ),
      summary: fromPromise<void, WorkflowSlotInput>(({ input }) => runOf(input).turn.summarize()),
    },
  });
}
