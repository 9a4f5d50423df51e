import { fromCallback, fromPromise } from 'xstate';
import {
  type BackendOrder,
  type WorkflowMachineEvent,
  workflowMachine,
  type WorkflowSlotInput,
} from '../src/machines/workflow.ts';
import { createBackendTurn } from './backendTurn.ts';
import type { OwnedRun } from './run.ts';

/**
 * The machine of a run, its slots filled.
 * @param runOf - the run that an actor is of; throws when it is over.
 */
export function runLogic<R, S>(runOf: (input: WorkflowSlotInput) => OwnedRun<R, S>): typeof workflowMachine {
  return workflowMachine.provide({
    actors: {
      call: fromCallback<BackendOrder, WorkflowSlotInput>(({ input, sendBack, receive }) => {
        const call = runOf(input).takeTurn(input.backend, createBackendTurn).call(sendBack);
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
