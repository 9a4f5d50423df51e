// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { integrationOfRun, nameOfRun } from './diedRuns.ts';
export { StoredInbox, endFact, masked } from './inbox.ts';
export { type IntegrationKind, defineKind } from './integrationKind.ts';
export { knownNames } from './knownNames.ts';
export type { CallUnderWay } from './lastingCalls.ts';
export { claimProbe, leaseOwner } from './leaseOwner.ts';
export { nameIn } from './liveRuntime.ts';
export { OwnFigures } from './ownFigures.ts';
export { ownMetrics } from './ownMetrics.ts';
export { guardProcess } from './processGuard.ts';
export { Registry } from './registry.ts';
export { type Observed, registryOf, withRegistry } from './registryOf.ts';
export { remoteServer } from './remoteServer.ts';
export type { Part, Runtime } from './runtime.ts';
export type { StartOptions } from './runtimeLife.ts';
export { type CheckedGatewayOptions, type GatewayOptions, checkGatewayOptions } from './runtimeOptions.ts';
export { superviseIntegration } from './superviseIntegration.ts';
export { loopClock, systemClock } from './systemClock.ts';
