import type { FailureKind } from '../failures/failure.ts';

/** Facts of workflows. */
export interface WorkflowFacts {
  /** A run of a workflow began with this backend: its circuit let the run in. */
  [type: `workflow.${string}.started`]: WorkflowBackendFact;
  /** Its plan was checked; `mode` is what the plan said of how it is meant. */
  [type: `workflow.${string}.planned`]: WorkflowBackendFact & {
    items: readonly PlannedItem[];
    mode?: string | undefined;
  };
  /** It ended the run; `partial`: an item failed or was skipped. */
  [type: `workflow.${string}.completed`]: WorkflowBackendFact & {
    status: 'succeeded' | 'partial';
    done: number;
    failed: number;
    skipped: number;
    elapsedMs: number;
  };
  /** It could not end the run; `fallback` is who takes over, `breaker` the state of its circuit after that. */
  [type: `workflow.${string}.failed`]: WorkflowBackendFact & {
    kind: FailureKind;
    error: string;
    stack?: string | undefined;
    fallback?: string | undefined;
    breaker: 'closed' | 'open' | 'half-open' | 'isolated' | 'crashed';
    elapsedMs: number;
  };
  /** An attempt of an item failed; the last one (`final`) alone is on record. */
  [type: `workflow.${string}.item_error`]: WorkflowBackendFact & {
    item: string;
    action: string;
    /** 0 of an item that was not begun. */
    attempt: number;
    maxAttempts: number;
    final: boolean;
    kind: FailureKind;
    error: string;
    stack?: string | undefined;
    tools: readonly string[];
    servers: readonly string[];
    dependencies: readonly string[];
  };
  /** Its circuit opened with the failure of this run, or did not let it in; `fallback` is the agent that takes over. */
  [type: `workflow.${string}.circuit_breaker_open`]: WorkflowBackendFact & {
    fallback?: string | undefined;
    retryAfterMs?: number | undefined;
  };
  /** A backend of a workflow took over from another. */
  workflow_fallback: WorkflowFact & { from: string; to: string; reason: string };
}

/** Fields that the facts of one run of a workflow have in common. */
export interface WorkflowFact {
  workflow: string;
  /** Unique within the runtime. */
  run: string;
  session?: string | undefined;
}

/** The same with one backend, whose name is in the type of the fact. */
export interface WorkflowBackendFact extends WorkflowFact {
  backend: string;
}

/** An item of a plan as it is told. */
interface PlannedItem {
  id: string;
  action: string;
  dependencies: readonly string[];
}
