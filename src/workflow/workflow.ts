import { randomUUID } from 'node:crypto';
import type { AnyActorRef } from 'xstate';
import type { CallPath } from '../calls/callPath.ts';
import type { Deadline } from '../calls/deadlineQueue.ts';
import type { Drainable, DrainOrder } from '../calls/draining.ts';
import { errorText } from '../calls/errorText.ts';
import * as refusal from '../calls/refusal.ts';
import { isOfWork } from '../calls/workSignal.ts';
import type { WorkflowEmitted, WorkflowMachineInput, WorkflowSlotInput } from '../machines/workflow.ts';
import type { FailureFacts } from '../policy/failure.ts';
import type { Runtime } from '../runtime.ts';
import type { FactRedactor } from '../store/redactFact.ts';
import { createLate } from './late.ts';
import { createRun, type OwnedRun } from './run.ts';
import type { runLogic } from './runLogic.ts';
import { checkPolicies, superviseBackend, type Work } from './supervisedBackend.ts';
import { checkRunOptions, checkWorkflow } from './workflowOptions.ts';
import type { Workflow, WorkflowOptions } from './workflowTypes.ts';

/** A workflow, for who owns its runtime. */
export interface SupervisedWorkflow<I, R, S> extends Drainable {
  readonly workflow: Workflow<I, R, S>;
  /** The integrations of its backends and of their items. */
  readonly paths: readonly CallPath<Work, unknown>[];
  /** Resolves when its runs can begin without waiting for what they are made of. Never rejects: what cannot be loaded fails the run. */
  loaded(): Promise<void>;
  /** The runtime has started: what waited for that begins. */
  started(): void;
  /** Ends what has not begun. What runs ends with the runtime. */
  stop(): void;
}

/** Who owns the runtime. */
export interface WorkflowOwner {
  /** Whether the runtime runs, as of now. */
  readonly isRunning: () => boolean;
  readonly isStopped: () => boolean;
  /** @throws RangeError when an integration cannot have this name. */
  readonly declare: (name: string) => void;
  /** Takes secrets out of what anybody may read. */
  readonly redact: FactRedactor;
}

/**
 * Puts a workflow under a runtime: each run is a temporary child of the root supervisor.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseWorkflow<I, R, S>(
  runtime: Runtime,
  name: string,
  options: WorkflowOptions<I, R, S>,
  { isRunning, isStopped, declare, redact }: WorkflowOwner,
): SupervisedWorkflow<I, R, S> {
  const checked = checkWorkflow(name, options);
  // All of them are checked before anything is declared: who corrects a mistake may use the name.
  const sound = checked.backends.map((backend) => checkPolicies(runtime, name, backend));
  for (const each of sound) for (const taken of [each.name, each.itemsName]) declare(taken);
  const backends = sound.map((each) => superviseBackend(runtime, each));
  const names = checked.backends.map((backend) => backend.name);
  const live = new Map<string, OwnedRun<R, S>>();
  const waiting = new Map<string, () => void>();
  /** Runs that begin once what they are made of is loaded. */
  const beginning = new Set<string>();
  let count = 0;
  let draining: DrainOrder | undefined;

  const runOf = ({ run }: WorkflowSlotInput): OwnedRun<R, S> => {
    const found = live.get(run);
    if (found === undefined) throw new Error(`The run ${run} is over`);
    return found;
  };

  // Loaded behind a declaration: who has no workflows is spared it, and who has them seldom waits for it.
  const late = createLate(async () => (await import('./runLogic.ts')).runLogic(runOf));
  const loaded = (): Promise<void> =>
    late.load().then(
      () => undefined,
      () => undefined,
    );
  void loaded();

  return {
    workflow: {
      name,
      run(input, runOptions = {}) {
        const { signal, session } = checkRunOptions(runOptions);
        // Fit for an address. No run of another process has it: a frontend that comes back after a restart is not given the events of a stranger.
        const id = `${name.replace(/[^\w-]+/g, '-')}-${++count}-${randomUUID().slice(0, 8)}`;
        const ended = (): void => {
          live.delete(id);
          beginning.delete(id);
          waiting.get(id)?.();
          draining?.ended();
        };
        const { concurrency, overallMs } = checked;
        const run = createRun(runtime, input, {
          id,
          workflow: name,
          backends,
          concurrency,
          overallMs,
          signal,
          session,
          redact,
          ended,
        });
        live.set(id, run);
        if (signal?.aborted === true) run.fail('cancelled', refusal.cancelled(signal.reason, false));
        else if (isStopped()) run.fail('cancelled', refusal.stopped(name));
        else if (draining !== undefined && !isOfWork(signal)) run.fail('cancelled', refusal.stopping(name));
        else if (isRunning()) begin(id, run);
        else awaitStart(id, run);
        return run.handle;
      },
    },
    paths: backends.flatMap(({ path, items }) => [path, items]),
    loaded,
    started() {
      for (const [id, leave] of [...waiting]) {
        leave();
        const run = live.get(id);
        if (run !== undefined) begin(id, run);
      }
    },
    get busy() {
      return live.size > 0;
    },
    drain(order) {
      draining = order;
    },
    stop() {
      for (const id of [...waiting.keys(), ...beginning]) live.get(id)?.fail('cancelled', refusal.stopped(name));
    },
  };

  function begin(id: string, run: OwnedRun<R, S>): void {
    if (late.value !== undefined) {
      startRun(id, run, late.value);
      return;
    }
    beginning.add(id);
    late.load().then(
      (logic) => {
        if (beginning.delete(id)) startRun(id, run, logic);
      },
      (cause: unknown) => run.fail('failed', notLoaded(name, cause)),
    );
  }

  function startRun(id: string, run: OwnedRun<R, S>, logic: ReturnType<typeof runLogic>): void {
    const input: WorkflowMachineInput = { run: id, backends: names };
    try {
      runtime.root.startChild({
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
  function awaitStart(id: string, run: OwnedRun<R, S>): void {
    const restartWaitMs = backends[0]?.path.policy.restartWaitMs ?? 0;
    const deadline: Deadline = {
      due: runtime.clock.now() + restartWaitMs,
      heapIndex: -1,
      expire: () => run.fail('failed', refusal.unavailable(name, undefined, undefined)),
    };
    runtime.deadlines.set(deadline);
    waiting.set(id, () => {
      waiting.delete(id);
      runtime.deadlines.remove(deadline);
    });
  }
}

function notLoaded(name: string, cause: unknown): FailureFacts {
  const message = `The workflow ${name} could not be loaded: ${errorText(cause) ?? String(cause)}`;
  return { kind: 'crash', reason: 'startup_failed', message, outcome: 'not_started', cause };
}
