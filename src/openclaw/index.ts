export { createProcessSupervisor, type ProcessSupervisorOptions } from './processSupervisor.ts';
export type {
  AnchoredShellRunInput,
  ChildRunInput,
  ManagedRun,
  ProcessSupervisor,
  ReconcileOrphansParams,
  RunExit,
  RunInput,
  RunRecord,
  RunState,
  RunStdin,
  SpawnInput,
  TerminationReason,
} from './supervisorTypes.ts';
