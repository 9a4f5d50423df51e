import type { Duration } from '../src/policy/text/face.ts';
import type { Effect, PolicyInput, ReconcileLimits, Verdict } from '../src/policy/face.ts';
import type { Failure } from '../src/policy/failures/face.ts';

/** Piece of work of a plan. Keys that are not here are kept for its backend, and mean nothing to the workflow. */
export interface WorkflowItem {
  /** Unique within the plan. A later backend that plans an item of the same id is handed its result instead of doing it again. */
  readonly id: string;
  /** Work that is to be done, for people and records. */
  readonly action: string;
  /** Ids of the items that have to be done before it. @defaultValue [] */
  readonly dependencies?: readonly string[] | undefined;
  /** Names of the tools it needs, for records; `tools_needed` is the same. @defaultValue [] */
  readonly tools?: readonly string[] | undefined;
  readonly tools_needed?: readonly string[] | undefined;
  /** Names of the servers it needs, for records; `mcp_servers` is the same. @defaultValue [] */
  readonly servers?: readonly string[] | undefined;
  readonly mcp_servers?: readonly string[] | undefined;
  /** Attempts in all, at least 1; `max_attempts` is the same. @defaultValue that of `itemPolicy` */
  readonly maxAttempts?: number | undefined;
  readonly max_attempts?: number | undefined;
  /** Effect that it may have on the world; decides whether a lost answer is tried again. @defaultValue unspecified */
  readonly effect?: Effect | undefined;
  /** Whatever its backend needs to do it. */
  readonly input?: unknown;
}

/** The items of a plan, and what it says of them all. */
export interface WorkflowTodo {
  /** At least one. */
  readonly items: readonly WorkflowItem[];
  /** Way in which the backend means to go about it; told with the plan, and means nothing to the workflow. */
  readonly mode?: string | undefined;
}

/** Plan that `plan` has to give, with its items in itself or in `todo`; checked before anything of it is done. */
export type WorkflowPlan = {
  /** False when the backend could not make a plan; `error` says why. */
  readonly success: boolean;
  readonly error?: string | undefined;
} & (WorkflowTodo | { readonly todo: WorkflowTodo });

/** An item as its backend gets it: as it was planned, whatever else was said of it. */
export type WorkflowWorkItem = WorkflowItem & Readonly<Record<string, unknown>>;

/** Surroundings of every step of a backend. */
export interface WorkflowStepContext {
  /** Aborted when the backend's limit is over or the workflow is cancelled. */
  readonly signal: AbortSignal;
  /** A sign of life. */
  readonly touch: () => void;
  readonly session: string | undefined;
  /** Results by item id, those handed over by an earlier backend included. */
  readonly done: ReadonlyMap<string, unknown>;
  /**
   * In words, what was found out about items that an earlier backend had begun and not ended, by item id: `remote had begun it, and it did not
   * happen (no such payment is listed)`. Empty without a `reconcile` rule.
   */
  readonly found: ReadonlyMap<string, string>;
}

/** Surroundings of a probe, given with an item. */
export interface WorkflowProbeContext {
  /** Aborted when the probe has had its time, or nobody needs its answer any more. */
  readonly signal: AbortSignal;
  /** Number of this question about the item, from 1. */
  readonly attempt: number;
  /** The backend that had begun the item. */
  readonly backend: string;
  readonly session: string | undefined;
  /** Time when the item was begun, wall time in ms since the epoch. */
  readonly startedAt: number;
  /** Time when it was asked for the first time what became of it, likewise. */
  readonly endedAt: number;
}

/** Rule by which it is found out what became of an item that was begun and whose end is not known (docs/never-twice.md). */
export interface WorkflowReconcile<R = unknown> extends Omit<ReconcileLimits, 'hold' | 'endsWithProcess'> {
  /**
   * Finds out, by what the item says of itself, and changes nothing. `done` counts as the result of the item. What it throws, or answers beside a
   * verdict, counts as no answer.
   */
  readonly probe: (item: WorkflowWorkItem, context: WorkflowProbeContext) => Verdict<R> | PromiseLike<Verdict<R>>;
}

/** Context in which an item is worked on. */
export interface WorkflowItemContext extends WorkflowStepContext {
  /**
   * Aborted when the attempt is over. An integration that is called with it makes one attempt: the item is what is tried again. A call
   * that says its own `maxAttempts` has as many.
   */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** Attempts in all that the item may have. */
  readonly maxAttempts: number;
}

/** The backend that does the work: the primary, or its fallback. */
export interface WorkflowBackend<I, R, S> {
  /** Letters, digits, `-` and `_`; part of the names of its events. Unique within the workflow. */
  readonly name: string;
  /** Makes a {@link WorkflowPlan}. What it throws ends this backend's run. */
  readonly plan: (input: I, context: WorkflowStepContext) => WorkflowPlan | PromiseLike<WorkflowPlan>;
  /** Does one item. What it throws fails an attempt of that item alone, unless it is critical. */
  readonly item: (item: WorkflowWorkItem, context: WorkflowItemContext) => R | PromiseLike<R>;
  /** Makes the result of the whole out of the items' ends. @defaultValue no summary */
  readonly summary?:
    | ((items: readonly WorkflowItemResult<R>[], context: WorkflowStepContext) => S | PromiseLike<S>)
    | undefined;
  /**
   * Limits and circuit of its whole runs, each of which is one attempt whatever the policy says.
   * @defaultValue preset `workflow`: 5 min, open after 3 failed runs for 60 s
   */
  readonly policy?: PolicyInput | undefined;
  /**
   * Retries and limits of its items; they have no circuit. `retry.repeatAfter` also says whether an item of unspecified effect may be
   * done again that an earlier backend was at when it failed; a `mutating` one never is, and fails.
   * @defaultValue preset `workflow`: 3 attempts, after 1 and 2 s
   */
  readonly itemPolicy?: PolicyInput | undefined;
  /**
   * Tells whether the final failure of an item ends the backend's run, so that the next backend takes over, rather than that item alone.
   * @defaultValue kinds `auth` and `quota`, which would meet every other item too
   */
  readonly isCritical?: ((failure: Failure, item: WorkflowItem) => boolean) | undefined;
}

/** The backends of a workflow, and its limits. */
export interface WorkflowOptions<I, R, S> {
  /** The primary first; each further one takes over from the one before it. At least one. */
  readonly backends: readonly WorkflowBackend<I, R, S>[];
  /**
   * Items done at once, at least 1; the first of the plan first. An attempt that was given up and does not end keeps its place for the grace
   * of `itemPolicy` (`abortGraceMs`). Then it is abandoned, and another item takes the place. `maxAbandoned` of `itemPolicy` bounds abandoned
   * attempts: beyond it items are `unavailable` until some of them have ended. @defaultValue 1
   */
  readonly concurrency?: number | undefined;
  /** Limit on the whole run, all backends together, in ms above 0. @defaultValue 30 min */
  readonly overallMs?: Duration | undefined;
  /**
   * Is asked about each item that changes something, or may, and whose answer was lost: before it is tried again, and before the next backend
   * begins. What is not known then is not done again. @defaultValue none: a `mutating` item that was begun is not done again
   */
  readonly reconcile?: WorkflowReconcile<R> | undefined;
}

/** End of an item. */
export type WorkflowItemResult<R> =
  | {
      readonly id: string;
      readonly action: string;
      readonly status: 'done';
      readonly value: R;
      readonly attempts: number;
      /** The backend that did it; for a handed-over item an earlier one. */
      readonly backend: string;
      /** Its answer was lost, and the `reconcile` rule found out that it was done: how, in words. The value is what the rule gave. */
      readonly reconciled?: string | undefined;
    }
  | {
      readonly id: string;
      readonly action: string;
      readonly status: 'failed';
      readonly failure: Failure;
      readonly attempts: number;
      readonly backend: string;
    }
  | {
      readonly id: string;
      readonly action: string;
      readonly status: 'skipped';
      /** The failed or skipped items it depends on; none of an item that was not begun when its backend's run ended. */
      readonly because: readonly string[];
      readonly backend: string;
    };

/** Takeover by one backend from another. */
export interface WorkflowFallback {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** End of a run. */
export interface WorkflowOutcome<R, S> {
  /**
   * `succeeded`: every item was done; `partial`: at least one was done and another failed or was skipped; `failed`: no backend could end
   * its run, as where none of its items was done; `cancelled`: the caller ended it, or the gateway stopped.
   */
  readonly status: 'succeeded' | 'partial' | 'failed' | 'cancelled';
  /** Sentence for people, with the numbers. */
  readonly message: string;
  /** The backend that ended the run; the last one tried of a run that failed. */
  readonly backend: string;
  /** Items of the last plan, in its order, handed-over results included. */
  readonly items: readonly WorkflowItemResult<R>[];
  readonly summary: S | undefined;
  readonly fallbacks: readonly WorkflowFallback[];
  /** Why it failed or was cancelled. Where several backends failed, its `cause` is an AggregateError of an IntegrationError each. */
  readonly failure: Failure | undefined;
  readonly elapsedMs: number;
}

/** Event in a run, as its readers and a frontend get it: `{type, data}` is the JSON of one server-sent event. */
export type WorkflowEvent =
  | { readonly type: 'workflow_started'; readonly data: { readonly run: string; readonly backend: string } }
  | {
      readonly type: 'workflow_planned';
      readonly data: {
        readonly backend: string;
        readonly items: readonly Pick<WorkflowItem, 'id' | 'action' | 'dependencies'>[];
        readonly mode?: string | undefined;
      };
    }
  | {
      readonly type: 'workflow_item';
      readonly data: {
        readonly backend: string;
        readonly id: string;
        readonly action: string;
        /** `handed_over`: an earlier backend had done it. */
        readonly status: 'running' | 'retrying' | 'done' | 'handed_over' | 'failed' | 'skipped';
        /** From 1; 0 of one that never ran. */
        readonly attempt: number;
        readonly maxAttempts: number;
        /** Items ended so far, and in all: `k of n`. */
        readonly ended: number;
        readonly total: number;
        readonly error?: string | undefined;
      };
    }
  | { readonly type: 'workflow_fallback'; readonly data: WorkflowFallback }
  | {
      readonly type: 'workflow_reconciled';
      readonly data: {
        /** The backend that goes on, and the one that had begun the item. */
        readonly backend: string;
        readonly from: string;
        readonly id: string;
        readonly action: string;
        readonly verdict: 'done' | 'not_done' | 'unknown';
        /** Grounds on which that is known, in words. */
        readonly how: string;
      };
    }
  | {
      readonly type: 'workflow_ended';
      readonly data: {
        readonly status: WorkflowOutcome<unknown, unknown>['status'];
        readonly message: string;
        readonly backend: string;
        readonly done: number;
        readonly failed: number;
        readonly skipped: number;
      };
    };

/** A {@link WorkflowEvent} with its number within the run, from 1. */
export type NumberedWorkflowEvent = WorkflowEvent & { readonly number: number };

/** Progress of a run. */
export interface WorkflowProgress {
  readonly backend: string;
  /** `reconciling`: it is asked what became of items that the backend before had begun. */
  readonly phase: 'reconciling' | 'planning' | 'working' | 'summing_up' | 'ended';
  /** Items ended, whatever their end. */
  readonly ended: number;
  /** Items of the plan; 0 while there is none. */
  readonly total: number;
  /** Items at work, in the order of the plan. */
  readonly running: readonly {
    readonly id: string;
    readonly action: string;
    readonly attempt: number;
    readonly maxAttempts: number;
  }[];
}

/** Options of one run. */
export interface WorkflowRunOptions {
  /** Ends the run when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Names the session in records. */
  readonly session?: string | undefined;
}

/** A run of a workflow. */
export interface WorkflowRun<R, S> {
  /** Unique, also beyond this process; letters, digits, `-` and `_`, so that it may stand in an address. */
  readonly id: string;
  readonly progress: WorkflowProgress;
  /** Never rejects. */
  readonly outcome: Promise<WorkflowOutcome<R, S>>;
  /** Ends it; what is at work is aborted. Nothing happens when it has ended. */
  cancel(reason?: unknown): void;
  /**
   * The events so far (the last 1,000) and those to come, until the run has ended. A run may have any number of readers; each may stop at
   * any time without an effect on the run. A reader that falls behind by more than 1,000 sees the gap in `number`.
   * @param after - number of the last event that is already known; one that has not happened yet stands for none. @defaultValue 0
   */
  events(after?: number): AsyncIterableIterator<NumberedWorkflowEvent>;
}

/** A plan-and-do workflow that goes on with another backend where one fails. */
export interface Workflow<I, R, S> {
  readonly name: string;
  /**
   * Starts a run. Never throws for what backends do.
   * @throws TypeError when an option is wrong.
   */
  run(input: I, options?: WorkflowRunOptions): WorkflowRun<R, S>;
}
