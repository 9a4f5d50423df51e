/** What each entry of the package exports beside types. */
export const knownNames: Readonly<Record<string, string>> = {
  unwedge:
    'AttemptError HttpError IntegrationError anthropicEvents approvalMachine classify createGateway createSupervisor eventText failedExit failureKinds fetchFailure httpResponseOf integrationMachine modelEvents okOrThrow openAiEvents openClawReason presets rateLimitHints sessionMachine subprocessMachine supervisorLogic systemClock treeText unwrap',
  'unwedge/agents': 'agentKind createAgent',
  'unwedge/claude': 'createClaude invokeClaude',
  'unwedge/codex': 'codexKind connectCodex',
  'unwedge/config': 'ConfigError defineConfig loadConfig readOpenClawConfig readPattern',
  'unwedge/inspect': 'inspectWithStately',
  'unwedge/mcp-server': 'superviseMcpServer withErrorBoundary',
  'unwedge/otel': 'withTelemetry',
  'unwedge/testing':
    'SimulatedClock fakeMcpServer faultyAcpAgent faultyAcpClient faultyMcpServer faultyModelApi faultyUpstream inProcessAcpAgent replayIncident seededRandom startFaultyMcpHttpServer',
  'unwedge/transcript': 'repairTranscript',
  'unwedge/workflow': 'progressText serverSentEvents showProgress workflowKind writeServerSentEvents',
};

/** The types that each entry exports. */
export const knownTypes: Readonly<Record<string, string>> = {
  unwedge:
    'Acceptance AgentCalls AgentEffects AgentName AgentReport AlertCommand AlertOptions AlertRules AlertThresholds AlertWebhook ApprovalAnswer ApprovalHandler ApprovalOptions ApprovalReply ApprovalRequest Approver AskPerson Asked Asking AttemptContext BreakerCause BreakerHandle BreakerOutcome BreakerRule BudgetInput CallOptions CallStats CallStream CallStreamOptions CallTool ChildCount ChildInfo ChildMailboxOptions ChildSpec ChunkOf ChunkStream ClassifyContext Clock CloseOptions CommandHookAnswer Costs CountedFailure CreateGatewayOptions Duration DurationLimit DurationText Effect EffectOutcome ErrorPattern EventRules EventStream Exit Fact FactMap FactOf FactType Failure FailureFacts FailureKind FailureReason FailureResponse Fallback FallbackIntegration FallbackOption FallbackValue FetchFailureOptions FunctionOptions Gateway GatewayOptions HistoryEntry HookAnswer HookCommand HookEvent HookHandler HookOptions HookReport HookVerdict HostLogger HttpAnswer HttpBodies HttpChunks HttpIntegration HttpOptions HttpParse HttpRateOptions HttpReading HttpRequest HttpStreamOptions HttpStreamParse Inbox InboxNotice InboxOptions Integration IntegrationKind IntegrationPolicy IntegrationSettings IntegrationState KeyRuleOptions KnownTools Limits Logger LostAnswer MailboxOptions MappedValue McpIntegration McpIntegrationOptions McpServerTransport McpToolRequest Message MessageHandler MethodsOf Metric MetricsBody MetricsOptions OpenClawReason OpeningRule Operation OrderNote OrderResult Outcome Overflow Per PersonAnswer PoliciesOptions PolicyInput PresetName ProbeContext ProbeRuleOptions ProcessExit ProcessGuardOptions Quantiles Question QuestionForm QuestionOptions QuestionWhy Random RateInput RateLimitHint RateLimitHints RateOptions ReconcileLimits ReconcileOptions ReconcileProbe RecoveryOptions RemoteAuth RemoteMcpOptions RemoteSignInOptions ReportEntry ReportLine ReportOptions ReportStep Restart Resume RetentionOptions RetryPolicy RootOptions RootSupervisor RuleWhy RunRequest RunResult SendOptions ServerSentEvent Session SessionDefaults SessionOptions SessionWhy Shutdown SpinningChoice SpinningForm SpinningStep StopOptions Store StreamEnd StreamOptions StreamTool SubprocessOptions Supervisor SupervisorOptions SyntheticToolError TargetWhy TextTest Timer TimerOptions TokenRefusal Told ToolBreakerHandle ToolCallOptions ToolCallRetryOptions ToolCallWhy ToolError ToolInput ToolOptions ToolRequest ToolResult ToolRuleOptions ToolStream ToolStreamOptions ToolSuccess ToolsOptions TraceContext TransportMcpOptions TreeNode TreeTextOptions Turn UncaughtOrigin UntakenMessage Verdict WaitOptions WatchdogOptions',
  'unwedge/agents':
    'AcpBackendOptions Agent AgentApproval AgentEvent AgentMethods AgentOptions AgentResult AgentStartOptions AgentStreamOptions AgentTurn AgentTurnOptions AgentTurnStream AgentUsage BackendName ClaudeBackendOptions CodexBackendOptions Conversation CreateAgentOptions SdkCanUseTool SdkMessage SdkOptions SdkPermission SdkPermissionContext SdkQuery SdkQueryFunction SdkUserMessage',
  'unwedge/claude': 'Claude ClaudeCallOptions ClaudeErrorType ClaudeOptions ClaudeResult ClaudeRetry',
  'unwedge/codex':
    'Codex CodexApprover CodexHealth CodexInput CodexInputPart CodexItem CodexMethods CodexNotification CodexNotifications CodexOptions CodexQuestion CodexQuestionKind CodexReply CodexRequestOptions CodexServer CodexState CodexStreamOptions CodexThread CodexThreadInfo CodexThreadList CodexThreadOptions CodexTokens CodexTurn CodexTurnEvent CodexTurnOptions CodexTurnRecord CodexTurnResult CodexWireLine ConnectCodexOptions',
  'unwedge/config':
    'ConfigOptions ConfigProblem ConfigSource LoadConfigOptions LoadedConfig OpenClawOptions UnwedgeConfig',
  'unwedge/inspect': 'InspectOptions Inspected Inspector',
  'unwedge/mcp-server':
    'ErrorBoundaryOptions HandlerLimits McpServerLike McpSupervision McpSupervisionOptions McpSupervisionStats ToolErrorResult',
  'unwedge/otel': 'TelemetryOptions Traced',
  'unwedge/testing':
    'AcpClientFault AcpExit AcpFault AcpFaultMatch AcpFaultRule AcpParams AcpPipes AcpPromptEnd FakeMcpContext FakeMcpServer FakeMcpServerOptions FakeMcpTool FaultyAcpAgent FaultyAcpAgentOptions FaultyAcpClient FaultyAcpClientOptions FaultyMcpHttpServer FaultyMcpHttpServerOptions FaultyMcpServer FaultyMcpServerOptions FaultyModelApi FaultyTool FaultyUpstream InProcessAcpAgent InProcessAcpAgentOptions IncidentSubject McpFault McpFaultMatch McpFaultRule McpHttpFault McpHttpFaultMatch McpHttpFaultRule ModelAnswer ModelEnding ModelMoment ModelRequest ModelScript ReceivedMcpRequest ReceivedRequest ReplayIncidentOptions ReplayLine ReplayResult ReplayStep UpstreamFault UpstreamScript',
  'unwedge/transcript':
    'RepairCounts RepairOptions RepairRule TranscriptFinding TranscriptFormat TranscriptRepair TranscriptReport',
  'unwedge/workflow':
    'NumberedWorkflowEvent ProgressStream ServerSentEventOptions ServerSentEventResponse ServerSentEventsEnd ShowProgressOptions WatchedRun Workflow WorkflowBackend WorkflowEvent WorkflowFallback WorkflowItem WorkflowItemContext WorkflowItemResult WorkflowMethods WorkflowOptions WorkflowOutcome WorkflowPlan WorkflowProbeContext WorkflowProgress WorkflowReconcile WorkflowRun WorkflowRunOptions WorkflowStepContext WorkflowTodo WorkflowWorkItem',
};
