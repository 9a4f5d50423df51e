export { type Claude, type ClaudeErrorType, type ClaudeResult, createClaude, invokeClaude } from './claude.ts';
export type { ClaudeCallOptions, ClaudeOptions, ClaudeRetry } from './claudeOptions.ts';
