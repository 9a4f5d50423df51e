import type { AskingRule, Verdict } from '../src/policy/face.ts';
import type { WorkflowProbeContext, WorkflowWorkItem } from './workflowTypes.ts';

/** The reconcile rule of a workflow, complete; in ms. */
export interface CheckedReconcile {
  readonly probe: (item: WorkflowWorkItem, context: WorkflowProbeContext) => Verdict | PromiseLike<Verdict>;
  readonly notBefore?: number | undefined;
  readonly timeoutMs: number;
  readonly attempts: number;
}

/**
 * The rule of a workflow for one of its items.
 * @param backend - that has begun the item.
 */
export function itemRule(
  { probe, notBefore: notBeforeMs, timeoutMs, attempts }: CheckedReconcile,
  item: WorkflowWorkItem,
  backend: string,
): AskingRule {
  return {
    ...{ kind: 'ask', asks: 'its probe', hold: 'input', notBeforeMs, endsWithProcess: false, timeoutMs, attempts },
    about: () => ({ tool: item.id, input: item }),
    ask: ({ session, startedAt, endedAt }, { signal, attempt }) =>
      probe(item, { signal, attempt, backend, session, startedAt, endedAt }),
    answer: (result) => result,
  };
}
