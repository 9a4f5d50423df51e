export { workflowKind, type WorkflowMethods } from './workflow.ts';
export { type ProgressStream, showProgress, type ShowProgressOptions } from './progress.ts';
export { progressText } from './progressText.ts';
export type { WatchedRun } from './runReader.ts';
export { type ServerSentEventResponse, type ServerSentEventsEnd, writeServerSentEvents } from './sse.ts';
export type { ServerSentEventOptions } from './sseOptions.ts';
export { serverSentEvents } from './sseResponse.ts';
export type {
  NumberedWorkflowEvent,
  Workflow,
  WorkflowBackend,
  WorkflowEvent,
  WorkflowFallback,
  WorkflowItem,
  WorkflowItemContext,
  WorkflowItemResult,
  WorkflowOptions,
  WorkflowOutcome,
  WorkflowPlan,
  WorkflowProbeContext,
  WorkflowProgress,
  WorkflowReconcile,
  WorkflowRun,
  WorkflowRunOptions,
  WorkflowStepContext,
  WorkflowTodo,
  WorkflowWorkItem,
} from './workflowTypes.ts';
