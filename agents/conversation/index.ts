export { agentKind, type AgentMethods } from './agentKind.ts';
export type { AgentName } from '../../src/protocol/agentReport.ts';
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
  Conversation,
} from './agentTypes.ts';
export type { ClaudeBackendOptions } from './claude/claudeBackendOptions.ts';
export type { CodexBackendOptions } from './codex/codexBackendOptions.ts';
export { createAgent, type CreateAgentOptions } from './createAgent.ts';
