export { SimulatedClock } from './simulatedClock.ts';
export { seededRandom } from './random.ts';
export { replayIncident, type ReplayIncidentOptions } from './replayIncident.ts';
export type { ReplayLine, ReplayResult, ReplayStep } from '../incident/replay/compare.ts';
export type { IncidentSubject } from '../incident/incident.ts';
export {
  type FakeMcpContext,
  type FakeMcpServer,
  fakeMcpServer,
  type FakeMcpServerOptions,
  type FakeMcpTool,
} from './fakeMcpServer.ts';
export { type FaultyMcpServer, faultyMcpServer, type FaultyMcpServerOptions } from './faultyMcpServer.ts';
export type { FaultyMcpHttpServerOptions } from './faultyMcpHttpScript.ts';
export { type FaultyMcpHttpServer, startFaultyMcpHttpServer } from './faultyMcpHttpServer.ts';
export type { McpHttpFault, McpHttpFaultMatch, McpHttpFaultRule } from './mcpHttpFaults.ts';
export type { ReceivedMcpRequest } from './mcpHttpRequests.ts';
export {
  type FaultyUpstream,
  faultyUpstream,
  type ReceivedRequest,
  type UpstreamFault,
  type UpstreamScript,
} from './faultyUpstream.ts';
export type { FaultyTool, McpFault, McpFaultMatch, McpFaultRule } from './mcpFaults.ts';
export {
  type FaultyModelApi,
  faultyModelApi,
  type ModelAnswer,
  type ModelEnding,
  type ModelMoment,
  type ModelRequest,
  type ModelScript,
} from './faultyModelApi.ts';
export type { AcpFault, AcpFaultMatch, AcpFaultRule } from './acp/acpFaults.ts';
export type { AcpExit } from './acp/acpPeer.ts';
export {
  type FaultyAcpAgent,
  faultyAcpAgent,
  type InProcessAcpAgent,
  inProcessAcpAgent,
} from './acp/faultyAcpAgent.ts';
export type { FaultyAcpAgentOptions, InProcessAcpAgentOptions } from './acp/acpScript.ts';
export type { AcpParams, AcpPipes } from './acp/acpWire.ts';
export {
  type AcpClientFault,
  type AcpPromptEnd,
  type FaultyAcpClient,
  faultyAcpClient,
  type FaultyAcpClientOptions,
} from './acp/faultyAcpClient.ts';
