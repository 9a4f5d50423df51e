import type { Effect, Finding, RepeatAfter } from '../src/policy/face.ts';
import { type Failure, IntegrationError, leavesEffectOpen, mayRepeat } from '../src/policy/failures/face.ts';
import type { WorkflowItem, WorkflowItemResult, WorkflowWorkItem } from './workflowTypes.ts';

/** An item that was done. */
export type DoneItem<R> = Extract<WorkflowItemResult<R>, { status: 'done' }>;

/** An item that a backend has begun, and of which it is not known what it did. */
export interface DoubtfulItem {
  readonly item: WorkflowWorkItem;
  readonly failure: Failure;
  readonly backend: string;
  /** Time of its begin, wall time in ms. */
  readonly startedAt: number;
}

/** Handover of one backend of a run to the next. */
export interface Handover<R> {
  /** Results of what was done, by item. */
  readonly results: ReadonlyMap<string, DoneItem<R>>;
  /** The values of the same, for backends. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Findings on items that were begun, by item, in words. */
  readonly words: ReadonlyMap<string, string>;
  /** Items that were begun and may have taken effect, or not. */
  readonly doubtful: readonly DoubtfulItem[];
  add(result: DoneItem<R>): void;
  /** An item failed. It is remembered when what it did is not known. */
  failed(item: WorkflowWorkItem, failure: Failure, backend: string, startedAt: number): void;
  /** It was found out what became of a doubtful item. One that did not happen may be done; one of which nobody knows must not. */
  found(id: string, finding: Finding): void;
  /**
   * Why an item must not be begun: an earlier backend began it, what became of it is not known, and a second time may do harm.
   * @param integration - that would do it.
   * @param repeatAfter - after what an item of unspecified effect may be done again.
   */
  refusal(item: WorkflowItem, integration: string, repeatAfter: RepeatAfter): Failure | undefined;
}

interface Doubt extends DoubtfulItem {
  /** Grounds on which it is known that nobody knows. */
  readonly how?: string | undefined;
}

export function createHandover<R>(): Handover<R> {
  const results = new Map<string, DoneItem<R>>();
  const values = new Map<string, unknown>();
  const words = new Map<string, string>();
  const doubts = new Map<string, Doubt>();
  const add = (result: DoneItem<R>): void => {
    results.set(result.id, result);
    values.set(result.id, result.value);
    doubts.delete(result.id);
  };
  return {
    results,
    values,
    words,
    get doubtful() {
      return [...doubts.values()].filter(({ item, failure }) => leavesEffectOpen(failure, item.effect));
    },
    add,
    failed(item, failure, backend, startedAt) {
      const known = failure.outcome === 'not_started' || failure.outcome === 'failed' || failure.outcome === 'not_done';
      if (!known && !doubts.has(item.id)) doubts.set(item.id, { item, failure, backend, startedAt });
    },
    found(id, { verdict, how, result }) {
      const doubt = doubts.get(id);
      if (doubt === undefined) return;
      const { item, backend } = doubt;
      words.set(id, `${backend} had begun it, and ${said[verdict]} (${how})`);
      if (verdict === 'unknown') doubts.set(id, { ...doubt, how });
      else if (verdict === 'not_done') doubts.delete(id);
      else {
        const done = { id, action: item.action, status: 'done', attempts: doubt.failure.attempts, backend } as const;
        add({ ...done, value: result?.value as R, reconciled: how });
      }
    },
    refusal(item, integration, repeatAfter) {
      const before = doubts.get(item.id);
      if (before === undefined) return undefined;
      const effect = together(before.item.effect, item.effect);
      const { failure, how } = before;
      // An item about which a rule found nothing out is not done again, whoever would repeat it without one.
      if (how === undefined && mayRepeat(failure, effect, repeatAfter)) return undefined;
      const why = how === undefined ? failure.message : `${failure.message}; ${how}`;
      return {
        kind: 'unknown',
        message: `It is not done again: what an earlier backend did of it is not known (${why})`,
        outcome: 'unknown',
        ...(how !== undefined && { how }),
        integration,
        attempts: 0,
        retryable: false,
        cause: new IntegrationError(failure),
      };
    },
  };
}

const said: Readonly<Record<Finding['verdict'], string>> = {
  done: 'it was done',
  not_done: 'it did not happen',
  unknown: 'what became of it is not known',
};

/** Joins what two backends say of the same item: that it changes something counts for more than that it does not, and both for more than nothing. */
function together(before: Effect | undefined, now: Effect | undefined): Effect | undefined {
  return before === 'mutating' || now === 'mutating' ? 'mutating' : (before ?? now);
}
