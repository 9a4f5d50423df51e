import { defineKind, type IntegrationKind } from '../src/runtime/integrationKind.ts';
import type { Runtime } from '../src/runtime/runtime.ts';
import { superviseWorkflow } from './workflow.ts';
import type { Workflow, WorkflowOptions } from './workflowTypes.ts';

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
