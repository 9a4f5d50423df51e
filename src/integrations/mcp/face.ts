// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { elicitationAsking, elicitationResult } from './elicitation.ts';
export { LargeResults } from './largeResults.ts';
export type { McpIntegration } from './mcpIntegration.ts';
export type { McpIntegrationOptions, RemoteMcpOptions } from './mcpServer.ts';
