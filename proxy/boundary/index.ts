export type { ErrorBoundaryOptions, HandlerLimits } from './boundaryOptions.ts';
export { withErrorBoundary } from './errorBoundary.ts';
export {
  type McpSupervision,
  type McpSupervisionOptions,
  type McpSupervisionStats,
  superviseMcpServer,
} from './superviseMcpServer.ts';
export type { ToolErrorResult } from './errorBoundary.ts';
export type { McpServerLike } from './toolRegistration.ts';
