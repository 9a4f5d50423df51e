// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { clientModule } from './clientModule.ts';
export { type TaskReply, followTask } from './followTask.ts';
export { type HangWatch, type Suspect, createHangWatch } from './hangWatch.ts';
export { endHeadStart, startAhead } from './headStart.ts';
export { McpProcess, processTarget } from './mcpProcess.ts';
export { type McpServerSettings, checkMcpServer } from './mcpServerOptions.ts';
export { createStderrTail } from './mcpStderr.ts';
export { deed, isCleanExit, lossFacts, serverLoss, stopped, withStderr } from './serverEnd.ts';
export { allowedEnvironment, mcpEnvironment } from './serverEnvironment.ts';
export type { ServerEnd, ServerTarget } from './serverLink.ts';
export { StartLimit, commandHandshakeMs, remoteHandshakeMs } from './startLimit.ts';
export type { McpServerTransport } from './transportLink.ts';
