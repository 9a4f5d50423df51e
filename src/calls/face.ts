// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { Call } from './call.ts';
export { attemptFacts } from './callFailure.ts';
export {
  type CallOptions,
  type CallSettings,
  type KeepRule,
  type StreamReader,
  defaultSettings,
  effectUnder,
} from './callOptions.ts';
export { CallPath } from './callPath.ts';
export type { CallStats, Incarnations } from './callPathOptions.ts';
export type { CallStepWhy } from './callProgress.ts';
export { type CallRule, type CallWhy, type InnerLimit, type ReconcileWhy, tellInnerLimits, whyOf } from './callWhy.ts';
export { type Deadline, DeadlineQueue } from './deadlineQueue.ts';
export type { DrainOrder } from './draining.ts';
export { errorText, stackOf } from './errorText.ts';
export { fallbackOf } from './fallback.ts';
export { type BreakerHandle, CallableIntegration, circuitOf, streamCancelled } from './integration.ts';
export type { AttemptContext, Fallback } from './operation.ts';
export * as refusal from './refusal.ts';
export { EndedAs, pauseText, restarted } from './refusal.ts';
export { type AbortWatcher, SignalFanout } from './signalFanout.ts';
export type {
  CallEnd,
  CallTrace,
  Reconciling,
  Trace,
  TraceContext,
  TracedCall,
  TracedRequest,
  TracedTurn,
  Tracer,
} from './tracing.ts';
export { isOfWork, isRetried, joinedSignal, markAs, markOfWork, markRetried } from './workSignal.ts';
