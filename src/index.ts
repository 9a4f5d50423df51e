export type { AlertCommand, AlertOptions, AlertWebhook } from './alertOptions.ts';
export type { ApprovalHandler, ApprovalReply, ApprovalRequest } from './actors/approvalHandler.ts';
export type { HookAnswer, HookEvent, HookHandler, HookReport, HookVerdict } from './actors/userHooks.ts';
export type { RunResult } from './agentRuns.ts';
export type {
  SdkCanUseTool,
  SdkMessage,
  SdkOptions,
  SdkPermission,
  SdkPermissionContext,
  SdkQuery,
  SdkQueryFunction,
  SdkUserMessage,
} from './agents/agentSdkTypes.ts';
export type {
  Agent,
  AgentApproval,
  AgentEvent,
  AgentOptions,
  AgentResult,
  AgentStartOptions,
  AgentTurn,
  AgentTurnOptions,
  AgentUsage,
  Conversation,
} from './agents/agentTypes.ts';
export type { ClaudeBackendOptions } from './agents/claudeBackendOptions.ts';
export type { CodexBackendOptions } from './agents/codexAgent.ts';
export { createAgent, type CreateAgentOptions } from './agents/createAgent.ts';
export { connectCodex, type ConnectCodexOptions } from './agents/codexConnect.ts';
export type { CodexApprover, CodexOptions, CodexWireLine } from './agents/codexOptions.ts';
export type {
  Codex,
  CodexHealth,
  CodexInput,
  CodexInputPart,
  CodexNotification,
  CodexNotifications,
  CodexRequestOptions,
  CodexServer,
  CodexState,
  CodexStreamOptions,
  CodexThread,
  CodexThreadInfo,
  CodexThreadList,
  CodexThreadOptions,
  CodexTokens,
  CodexTurn,
  CodexTurnEvent,
  CodexTurnOptions,
  CodexTurnRecord,
  CodexTurnResult,
} from './agents/codexTypes.ts';
export type { ApprovalAnswer, ApprovalOptions, Approver } from './approvals.ts';
export type { KnownTools } from './actors/mcpTools.ts';
export type { AttemptContext, Fallback, Operation } from './calls/operation.ts';
export type { CallStats } from './calls/callPathParts.ts';
export type { FallbackIntegration, FallbackOption, FallbackValue } from './calls/fallback.ts';
export type { ToolOptions } from './policy/toolOptions.ts';
export type { BreakerHandle, CallOptions, Integration, ToolBreakerHandle } from './calls/integration.ts';
export { type Claude, type ClaudeErrorType, type ClaudeResult, createClaude, invokeClaude } from './claude.ts';
export type { ClaudeCallOptions, ClaudeOptions, ClaudeRetry } from './claudeOptions.ts';
export type { HookCommand } from './commandHook.ts';
export type { ConfigOptions, LoadConfigOptions, LoadedConfig, UnwedgeConfig } from './config/configTypes.ts';
export { defineConfig, loadConfig } from './config/loadConfig.ts';
export { ConfigError, type ConfigProblem, type ConfigSource } from './config/problems.ts';
export { createGateway } from './gateway.ts';
export type { GatewayOptions, RootOptions } from './gatewayOptions.ts';
export type { FunctionOptions, Gateway, StopOptions, ToolRequest } from './gatewayTypes.ts';
export { type InspectOptions, type Inspector, inspectWithStately } from './inspectWithStately.ts';
export { approvalMachine } from './machines/approval.ts';
export { type IntegrationState, integrationMachine } from './machines/integration.ts';
export { type OpenClawReason, openClawReason } from './machines/openClawReason.ts';
export { sessionMachine } from './machines/session.ts';
export { subprocessMachine } from './machines/subprocess.ts';
export type { ProcessExit } from './machines/subprocessExit.ts';
export type { McpIntegration, McpToolRequest, ToolsOptions } from './mcpIntegration.ts';
export type { McpIntegrationOptions } from './mcpServer.ts';
export type { AlertRules, AlertThresholds } from './policy/alerts.ts';
export type { BreakerCause, CountedFailure } from './policy/breakerCause.ts';
export { classify, type ClassifyContext, type ErrorPattern, type TextTest } from './policy/classify.ts';
export type { Clock, Random, Timer, TimerOptions } from './policy/clock.ts';
export type { Effect } from './policy/effects.ts';
export type { Fact, FactMap, FactOf, FactType, Told } from './policy/facts.ts';
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
} from './policy/failure.ts';
export { type FailureResponse, httpResponseOf } from './policy/httpResponse.ts';
export type { HostLogger } from './policy/hostLogger.ts';
export type { Logger } from './policy/logger.ts';
export type { IntegrationPolicy, Limits, RetryPolicy } from './policy/policy.ts';
export type { IntegrationSettings, PoliciesOptions } from './policy/policies.ts';
export { type PolicyInput, type PresetName, presets } from './policy/presets.ts';
export { type OpenClawOptions, readOpenClawConfig } from './openclawConfig.ts';
export { readPattern } from './readPattern.ts';
export type { RetentionOptions } from './policy/retention.ts';
export type { ToolCallRetryOptions } from './policy/toolCallRetry.ts';
export type { ProcessGuardOptions, UncaughtOrigin } from './processGuard.ts';
export type { CommandHookAnswer } from './protocol/commandHook.ts';
export type { CodexItem } from './protocol/codex/items.ts';
export type { CodexQuestion, CodexQuestionKind, CodexReply } from './protocol/codex/questions.ts';
export type { AgentEffects, AgentName, AgentReport } from './protocol/agentReport.ts';
export type { TranscriptFormat } from './protocol/transcript/detect.ts';
export type { RepairCounts, RepairRule, TranscriptFinding, TranscriptReport } from './protocol/transcript/findings.ts';
export { repairTranscript, type RepairOptions, type TranscriptRepair } from './protocol/transcript/repairTranscript.ts';
export type { HistoryEntry } from './sessions/history.ts';
export type { MailboxOptions, Message } from './sessions/mailbox.ts';
export type { Acceptance } from './sessions/acceptance.ts';
export type { SessionDefaults } from './sessions/sessionDefaults.ts';
export type { MessageHandler, RecoveryOptions, SessionOptions, WatchdogOptions } from './sessions/sessionOptions.ts';
export type { QuestionOptions } from './sessions/questions.ts';
export type { SendOptions, Session } from './sessions/session.ts';
export type { QuestionWhy, SessionWhy, TargetWhy, ToolCallWhy } from './sessions/why.ts';
export type { SyntheticToolError, ToolError, ToolResult, ToolSuccess } from './sessions/toolResult.ts';
export type { ToolCallOptions } from './sessions/toolCallOptions.ts';
export type { Turn } from './sessions/turn.ts';
export type { Store } from './store/store.ts';
export type { RunRequest, SubprocessOptions } from './subprocessOptions.ts';
export type { ChildSpec, Restart, Shutdown } from './supervisor/childSpec.ts';
export { type Exit, failedExit } from './supervisor/exit.ts';
export type { MailboxOptions as ChildMailboxOptions, Overflow } from './supervisor/mailbox.ts';
export {
  createRootSupervisor as createSupervisor,
  type RootSupervisor,
  type Supervisor,
  type SupervisorOptions,
} from './supervisor/supervisor.ts';
export { supervisorLogic } from './supervisor/supervisorLogic.ts';
export type { ChildCount, ChildInfo, TreeNode } from './supervisor/tree.ts';
export { treeText, type TreeTextOptions } from './supervisor/treeText.ts';
export type { HookOptions } from './superviseHook.ts';
export type { EventStream, StreamOptions } from './telemetry/eventStream.ts';
export type { WaitOptions } from './telemetry/waitForFact.ts';
export { systemClock } from './systemClock.ts';
export { type ProgressStream, showProgress, type ShowProgressOptions } from './workflow/progress.ts';
export { progressText } from './workflow/progressText.ts';
export type { WatchedRun } from './workflow/runReader.ts';
export { type ServerSentEventResponse, type ServerSentEventsEnd, writeServerSentEvents } from './workflow/sse.ts';
export type { ServerSentEventOptions } from './workflow/sseOptions.ts';
export { serverSentEvents } from './workflow/sseResponse.ts';
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
  WorkflowProgress,
  WorkflowRun,
  WorkflowRunOptions,
  WorkflowStepContext,
  WorkflowTodo,
  WorkflowWorkItem,
} from './workflow/workflowTypes.ts';
