// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { AlertCause, AlertEnd } from './alertFacts.ts';
export { factTypes } from './factTypes.ts';
export type { Fact, FactOf, FactType, Facts, KeptFacts, Told } from './facts.ts';
export type { WorkflowBackendFact, WorkflowFact } from './workflowFacts.ts';
