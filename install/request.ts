import type { AgentName } from './configFile.ts';

/** Contents of a request. */
export interface InstallRequest {
  readonly agents: readonly AgentName[];
  /** Files that are shared with others too. */
  readonly withProject: boolean;
  /** Hooks of Codex too, which the user has to trust anew. */
  readonly withCodexHooks: boolean;
  readonly undo: boolean;
  /** Nothing is written; the report has the diffs. */
  readonly dryRun: boolean;
}
