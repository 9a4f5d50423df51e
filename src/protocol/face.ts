// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export {
  type AgentCommand,
  type AgentOption,
  aboutCommand,
  agentCommand,
  agentOf,
  keepsSession,
  presetOfAgent,
  printsAtEnd,
} from './agentCommand.ts';
export {
  type AgentCalls,
  type AgentEffects,
  answer,
  blocksIn,
  createRetryLife,
  longestAnswer,
  messageIn,
  recordIn,
  textIn,
} from './agentReport.ts';
export type { AgentProfile } from './agents/profile.ts';
export { repeatsItself } from './agents/profileFailure.ts';
export { profilesFrom } from './agents/profileKeys.ts';
export { type KnownAgent, agentNames, profileOf } from './agents/profiles.ts';
export { AgentTrail, goOnPrompt, isHarmless } from './agentTrail.ts';
export { isGoingOn } from './claudeAnswer.ts';
export { GatheredLines, isOneLine } from './gatheredLines.ts';
export { hearCodexItem } from './codexCalls.ts';
export { createClaudeReader } from './claudeOutput.ts';
export { boundedClaudeRetries, claudeRetriesName, mayRetryItself } from './claudeRetries.ts';
export { claudeSign, losesSession } from './claudeSigns.ts';
export { claudeReads } from './claudeTools.ts';
export { type Background, blockExitCode, judgeCommandHook, readBackground } from './commandHook.ts';
export { canBlock, hookHostMs, hookLimitMs, mayBlockOnFailure } from './hookEvents.ts';
export {
  type RpcError,
  type RpcGarbage,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
  errorAnswer,
  notificationLine,
  parseRpc,
  requestLine,
  rpcErrors,
  rpcLine,
} from './jsonRpc.ts';
export { createByteLines, createLineSplitter } from './lines.ts';
export { derivedUuid, textHash } from './textHash.ts';
