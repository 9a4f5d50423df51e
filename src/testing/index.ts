export { SimulatedClock } from './simulatedClock.ts';
export { seededRandom } from './random.ts';
export { type FaultyMcpServer, faultyMcpServer, type FaultyMcpServerOptions } from './faultyMcpServer.ts';
export {
  type FaultyUpstream,
  faultyUpstream,
  type ReceivedRequest,
  type UpstreamFault,
  type UpstreamScript,
} from './faultyUpstream.ts';
export type { FaultyTool, McpFault, McpFaultMatch, McpFaultRule } from './mcpFaults.ts';
