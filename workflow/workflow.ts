import { randomUUID } from 'node:crypto';
import type { AnyActorRef } from 'xstate';
import type { Deadline } from '../src/calls/deadlineQueue.ts';
import type { DrainOrder } from '../src/calls/draining.ts';
import { errorText } from '../src/calls/errorText.ts';
import * as refusal from '../src/calls/refusal.ts';
import { isOfWork } from '../src/calls/workSignal.ts';
import type { WorkflowEmitted, WorkflowMachineInput } from '../src/machines/workflow.ts';
import type { FailureFacts } from '../src/policy/failure.ts';
import type { Part, Runtime } from '../src/runtime/runtime.ts';
import { loadedLater, type Late } from './loadedLater.ts';
import { createRun, type OwnedRun } from './run.ts';
import type { runLogic } from './runLogic.ts';
import { checkPolicies, type SupervisedBackend, superviseBackend } from './supervisedBackend.ts';
import { type CheckedWorkflow, checkRunOptions, checkWorkflow } from './workflowOptions.ts';
import type { Workflow, WorkflowOptions, WorkflowRun, WorkflowRunOptions } from './workflowTypes.ts';
import { lateModule, loadFailure } from '../src/actors/process/lateModule.ts';

const runLogicModule = lateModule(() => import('./runLogic.ts'));

type RunLogic = ReturnType<typeof runLogic>;

/**
 * Puts a workflow under a runtime, which stops it: each run is a temporary child of the root supervisor.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseWorkflow<I, R, S>(
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
  /** Runs that begin once what they are made of is loaded. */
  readonly #beginning = new Set<string>();
  // Loaded behind a declaration: a host without workflows is spared it, and one that has them seldom waits for it.
  readonly #logic: Late<RunLogic> = loadedLater(async () =>
    (await runLogicModule()).runLogic(({ run }) => this.#liveRun(run)),
  );
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
    void this.loaded();
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
    else if (runtime.running) this.#begin(id, run);
    else this.#awaitStart(id, run);
    return run.handle;
  }

  /** Loads it; a run fails over what cannot be loaded. */
  loaded(): Promise<void> {
    return this.#logic.load().then(
      () => undefined,
      () => undefined,
    );
  }

  /** Begins what waited for the start. */
  started(): void {
    for (const [id, leave] of [...this.#waiting]) {
      leave();
      const run = this.#live.get(id);
      if (run !== undefined) this.#begin(id, run);
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
    for (const id of [...this.#waiting.keys(), ...this.#beginning]) {
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
    this.#beginning.delete(id);
    this.#waiting.get(id)?.();
    this.#draining?.ended();
  }

  #begin(id: string, run: OwnedRun<R, S>): void {
    const { value } = this.#logic;
    if (value !== undefined) {
      this.#start(id, run, value);
      return;
    }
    this.#beginning.add(id);
    this.#logic.load().then(
      (logic) => {
        if (this.#beginning.delete(id)) this.#start(id, run, logic);
      },
      (cause: unknown) => run.fail('failed', notLoaded(this.#name, cause)),
    );
  }

  #start(id: string, run: OwnedRun<R, S>, logic: RunLogic): void {
    const name = this.#name;
    const input: WorkflowMachineInput = { run: id, backends: this.#checked.backends.map((backend) => backend.name) };
    try {
      this.#runtime.root.startChild({
        id: `workflow:${id}`,
        logic,
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

function notLoaded(name: string, cause: unknown): FailureFacts {
  const message = `The workflow ${name} could not be loaded: ${errorText(cause) ?? String(cause)}`;
  return loadFailure(message, cause);
}
