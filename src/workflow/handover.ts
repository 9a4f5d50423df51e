import type { Effect, RepeatAfter } from '../policy/effects.ts';
import { mayRepeat } from '../policy/repetition.ts';
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
   * @param repeatAfter - after what an item of unspecified effect may be done again.
   */
  refusal(item: WorkflowItem, integration: string, repeatAfter: RepeatAfter): Failure | undefined;
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
    refusal(item, integration, repeatAfter) {
      const before = doubtful.get(item.id);
      if (before === undefined) return undefined;
      const effect = together(before.effect, item.effect);
      if (mayRepeat(before.failure, effect, repeatAfter)) return undefined;
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

/** What two backends say of the same item: that it changes something counts for more than that it does not, and both for more than nothing. */
function together(before: Effect | undefined, now: Effect | undefined): Effect | undefined {
  return before === 'mutating' || now === 'mutating' ? 'mutating' : (before ?? now);
}
