export type { AlertCommand, AlertOptions, AlertWebhook } from './runtime/alertOptions.ts';
export type { ApprovalHandler, ApprovalReply, ApprovalRequest } from './integrations/approvals/approvals.ts';
export type { HookAnswer, HookEvent, HookHandler, HookReport, HookVerdict } from './integrations/hooks/userHooks.ts';
export type { RunResult } from './integrations/subprocess/agentRuns.ts';
export type { ApprovalAnswer, ApprovalOptions, Approver } from './integrations/approvals/approvals.ts';
export type { KnownTools } from './actors/mcp/mcpTools.ts';
export type { AttemptContext, Fallback, Operation } from './calls/operation.ts';
export type { TraceContext } from './calls/tracing.ts';
export type { RateOptions } from './calls/rates/integrationRates.ts';
export type { CallStats } from './calls/callPathOptions.ts';
export type { FallbackIntegration, FallbackOption, FallbackValue } from './calls/fallback.ts';
export type {
  KeyRuleOptions,
  LostAnswer,
  MappedValue,
  ProbeContext,
  ProbeRuleOptions,
  ReconcileLimits,
  ReconcileOptions,
  ReconcileProbe,
  ToolRuleOptions,
  Verdict,
} from './policy/reconcileRule.ts';
export type { ToolOptions } from './policy/toolOptions.ts';
export type { CallOptions, CallStreamOptions } from './calls/callOptions.ts';
export type { BreakerHandle, Integration, ToolBreakerHandle } from './calls/integration.ts';
export type { HookCommand } from './integrations/hooks/commandHook.ts';
export { createGateway } from './gateway/gateway.ts';
export type { InboxNotice, InboxOptions } from './runtime/inbox.ts';
export type { PersonAnswer, Question, QuestionForm } from './policy/records/question.ts';
export type { GatewayOptions, RootOptions } from './runtime/runtimeOptions.ts';
export type {
  CreateGatewayOptions,
  FunctionOptions,
  Gateway,
  StopOptions,
} from './gateway/gatewayTypes.ts';
export { approvalMachine } from './machines/approval.ts';
export { type IntegrationState, integrationMachine } from './machines/integration.ts';
export { type OpenClawReason, openClawReason } from './machines/subprocessExit.ts';
export { sessionMachine } from './machines/session.ts';
export { subprocessMachine } from './machines/subprocess.ts';
export type { ProcessExit } from './machines/subprocessExit.ts';
export {
  fetchFailure,
  type FetchFailureOptions,
  HttpError,
  okOrThrow,
} from './integrations/http/fetchFailure.ts';
export type { HttpIntegration } from './integrations/http/httpIntegration.ts';
export type {
  HttpAnswer,
  HttpBodies,
  HttpRateOptions,
  HttpOptions,
  HttpParse,
} from './integrations/http/httpOptions.ts';
export type { HttpStreamOptions } from './integrations/http/httpIntegration.ts';
export type { HttpRequest } from './integrations/http/httpRequest.ts';
export type { McpIntegration, McpToolRequest, ToolsOptions } from './integrations/mcp/mcpIntegration.ts';
export type { McpIntegrationOptions, RemoteMcpOptions, TransportMcpOptions } from './integrations/mcp/mcpServer.ts';
export type { McpServerTransport } from './actors/mcp/transportLink.ts';
export type { RemoteSignInOptions } from './actors/mcp/http/auth/signInOptions.ts';
export type { RemoteAuth, TokenRefusal } from './actors/mcp/http/access.ts';
export type { AlertRules, AlertThresholds } from './policy/alerts.ts';
export type { BreakerCause, CountedFailure } from './policy/records/breakerCause.ts';
export type { BreakerRule, OpeningRule } from './policy/breakerRule.ts';
export { classify, type ClassifyContext, type ErrorPattern, type TextTest } from './policy/failures/classify.ts';
export type { Clock, Random, Timer, TimerOptions } from './policy/clock.ts';
export type { Effect } from './policy/effects.ts';
export type { Fact, FactMap, FactOf, FactType, Told } from './policy/facts/facts.ts';
export {
  AttemptError,
  type BreakerOutcome,
  type EffectOutcome,
  type Failure,
  type FailureFacts,
  type FailureKind,
  type FailureReason,
  failureKinds,
  IntegrationError,
  type Outcome,
  unwrap,
} from './policy/failures/failure.ts';
export { type FailureResponse, httpResponseOf } from './policy/failures/httpResponse.ts';
export type { HostLogger } from './policy/options/hostLogger.ts';
export type { Logger } from './policy/text/logger.ts';
export type { OrderNote, OrderResult } from './policy/operatorOrder.ts';
export type { IntegrationPolicy, Limits, RetryPolicy } from './policy/policy.ts';
export type { IntegrationSettings, PoliciesOptions } from './policy/policies.ts';
export type { BudgetInput, Metric, Per } from './policy/budget.ts';
export type { SpinningChoice, SpinningForm, SpinningStep } from './policy/spinning/spinningRule.ts';
export type { PolicyInput } from './policy/policyInput.ts';
export type { Costs, RateLimitHint, RateLimitHints } from './policy/rateLimit.ts';
export { rateLimitHints } from './policy/failures/rateLimitHints.ts';
export type { RateInput } from './policy/ratePolicy.ts';
export { type PresetName, presets } from './policy/presets.ts';
export type { Duration, DurationLimit, DurationText } from './policy/text/duration.ts';
export type { RetentionOptions } from './policy/retention.ts';
export type { ToolCallRetryOptions } from './policy/toolCallRetry.ts';
export type { IntegrationKind, MethodsOf } from './runtime/integrationKind.ts';
export type { ProcessGuardOptions, UncaughtOrigin } from './runtime/processGuard.ts';
export type { CommandHookAnswer } from './protocol/commandHook.ts';
export type { AgentCalls, AgentEffects, AgentReport } from './protocol/agentReport.ts';
export type { AgentName } from './protocol/agents/profiles.ts';
export type { HistoryEntry } from './sessions/history.ts';
export type { MailboxOptions, Message } from './sessions/mailbox.ts';
export type { Acceptance } from './sessions/acceptance.ts';
export type { SessionDefaults } from './sessions/sessionOptions.ts';
export type { MessageHandler, RecoveryOptions, SessionOptions, WatchdogOptions } from './sessions/sessionOptions.ts';
export type { SendOptions, Session } from './sessions/session.ts';
export type { CloseOptions } from './sessions/sessionEnd.ts';
export type { Quantiles, ReportEntry, ReportLine, ReportStep } from './policy/records/callReport.ts';
export type { MetricsBody } from './policy/records/metricsText.ts';
export type { MetricsOptions } from './runtime/ownMetrics.ts';
export type { ReportOptions } from './runtime/reportOfRuntime.ts';
export type { UntakenMessage } from './gateway/untaken.ts';
export type { QuestionWhy, RuleWhy, SessionWhy, TargetWhy, ToolCallWhy } from './sessions/why.ts';
export type { SyntheticToolError, ToolError, ToolResult, ToolSuccess } from './sessions/toolResult.ts';
export type {
  CallTool,
  StreamTool,
  ToolCallOptions,
  ToolInput,
  ToolRequest,
  ToolStream,
  ToolStreamOptions,
} from './sessions/toolRequest.ts';
export type { Asked, Asking, Inbox } from './sessions/inbox.ts';
export type { AskPerson, QuestionOptions, Turn } from './sessions/turn.ts';
export type { Store } from './store/store.ts';
export type { RunRequest, SubprocessOptions } from './integrations/subprocess/subprocessOptions.ts';
export type { ChildSpec, Restart, Shutdown } from './supervisor/childSpec.ts';
export type { MailboxOptions as ChildMailboxOptions, Overflow } from './supervisor/childSpec.ts';
export { type Exit, failedExit } from './supervisor/exit.ts';
export {
  createRootSupervisor as createSupervisor,
  type RootSupervisor,
  type Supervisor,
  type SupervisorOptions,
} from './supervisor/supervisor.ts';
export { supervisorLogic } from './supervisor/supervisorLogic.ts';
export type { ChildCount, ChildInfo, TreeNode } from './supervisor/tree.ts';
export { treeText, type TreeTextOptions } from './supervisor/treeText.ts';
export type { HookOptions } from './integrations/hooks/superviseHook.ts';
export type { CallStream, ChunkStream } from './streams/callStream.ts';
export type { Resume, StreamEnd } from './streams/chunkRelay.ts';
export type { ChunkOf } from './streams/chunkSource.ts';
export { anthropicEvents, type EventRules, modelEvents, openAiEvents } from './streams/eventRules.ts';
export { eventText } from './streams/eventText.ts';
export type { HttpChunks, HttpReading, HttpStreamParse } from './streams/httpReading.ts';
export type { ServerSentEvent } from './streams/serverSentEvents.ts';
export type { EventStream, StreamOptions } from './telemetry/eventStream.ts';
export type { WaitOptions } from './telemetry/waitForFact.ts';
export { systemClock } from './runtime/systemClock.ts';
