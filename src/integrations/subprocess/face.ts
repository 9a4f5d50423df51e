// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type AgentLeft, AgentRuns, type RunResult } from './agentRuns.ts';
export { joinedAnswerOf } from './claudeSession.ts';
export type { RunRequest } from './subprocessOptions.ts';
export { nameOfCommand, runProcess, traceVariables } from './subprocessRun.ts';
