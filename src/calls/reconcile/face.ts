// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type KeyPlace, type ProbeLimits, type ProbePort, type RequestForms, reconciledTools } from './boundRule.ts';
export { mcpForms } from './requestForms.ts';
