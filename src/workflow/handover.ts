import type { Effect } from '../policy/effects.ts';
import { type Failure, IntegrationError } from '../policy/failure.ts';
import type { WorkflowItem, WorkflowItemResult } from './workflowTypes.ts';

/** An item that was done. */
export type DoneItem<R> = Extract<WorkflowItemResult<R>, { status: 'done' }>;

/** What one backend of a run leaves to the next. */
export interface Handover<R> {
  /** What was done, by item. */
  readonly results: ReadonlyMap<string, DoneItem<R>>;
  /** The values of the same, for backends. */
  readonly values: ReadonlyMap<string, unknown>;
  add(result: DoneItem<R>): void;
  /** An item failed. It is remembered when what it did is not known. */
  failed(item: WorkflowItem, failure: Failure): void;
  /**
   * Why an item must not be begun: an earlier backend began it, what became of it is not known, and a second time may do harm.
   * @param integration - that would do it.
   * @param retryUnspecified - whether what nobody knows the effect of may be done again.
   */
  refusal(item: WorkflowItem, integration: string, retryUnspecified: boolean): Failure | undefined;
}

export function createHandover<R>(): Handover<R> {
  const results = new Map<string, DoneItem<R>>();
  const values = new Map<string, unknown>();
  const doubtful = new Map<string, { readonly effect: Effect | undefined; readonly failure: Failure }>();
  return {
    results,
    values,
    add(result) {
      results.set(result.id, result);
      values.set(result.id, result.value);
      doubtful.delete(result.id);
    },
    failed({ id, effect }, failure) {
      const known = failure.outcome === 'not_started' || failure.outcome === 'failed';
      if (!known && !doubtful.has(id)) doubtful.set(id, { effect, failure });
    },
    refusal(item, integration, retryUnspecified) {
      const before = doubtful.get(item.id);
      if (before === undefined || mayRepeat([before.effect, item.effect], retryUnspecified)) return undefined;
      return {
        kind: 'unknown',
        message: `It is not done again: what an earlier backend did of it is not known (${before.failure.message})`,
        outcome: 'unknown',
        integration,
        attempts: 0,
        retryable: false,
        cause: new IntegrationError(before.failure),
      };
    },
  };
}

function mayRepeat(said: readonly (Effect | undefined)[], retryUnspecified: boolean): boolean {
  if (said.includes('mutating')) return false;
  return retryUnspecified || said.includes('readOnly') || said.includes('idempotent');
}
