// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { MachineLink } from './machineLink.ts';
export type { OpenToolCircuit } from './toolCircuits.ts';
