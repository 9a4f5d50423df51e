export { agentKind, type AgentMethods, createAgent, type CreateAgentOptions } from './agent.ts';
export type {
  SdkCanUseTool,
  SdkMessage,
  SdkOptions,
  SdkPermission,
  SdkPermissionContext,
  SdkQuery,
  SdkQueryFunction,
  SdkUserMessage,
} from './claude/agentSdkTypes.ts';
export type {
  Agent,
  AgentApproval,
  AgentEvent,
  AgentOptions,
  AgentResult,
  AgentStartOptions,
  AgentStreamOptions,
  AgentTurn,
  AgentTurnOptions,
  AgentTurnStream,
  AgentUsage,
  BackendName,
  CodexBackendOptions,
  Conversation,
} from './agentTypes.ts';
export type { AcpBackendOptions } from './acp/acpBackendOptions.ts';
export type { ClaudeBackendOptions } from './claude/claudeBackendOptions.ts';
