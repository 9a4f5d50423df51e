import type { AgentName, Scope } from './configFile.ts';
import type { EntryReport } from './entry.ts';

/** Report of what happened to a file, or would happen. */
export interface FileReport {
  readonly agent: AgentName;
  readonly path: string;
  readonly scope: Scope;
  /**
   * `changed`: written, or to be written. `same`: nothing to do. `left`: not asked for. `failed`: it could not be read or written, and is as it
   * was.
   */
  readonly status: 'changed' | 'same' | 'left' | 'failed';
  /** Why it is left, or what went wrong. */
  readonly why?: string | undefined;
  readonly entries: readonly EntryReport[];
  /** With secrets hidden. */
  readonly diff?: string | undefined;
  /** Path of the file of before. */
  readonly backup?: string | undefined;
  /** True where, after an undo, the file is, to the byte, what it was before. Undefined without a record. */
  readonly isExact?: boolean | undefined;
  readonly notes: readonly string[];
}

/** Report of what was done, or would be. */
export interface InstallReport {
  readonly undo: boolean;
  readonly dryRun: boolean;
  readonly files: readonly FileReport[];
  /** Steps that a person takes next. */
  readonly next: readonly string[];
  readonly notes: readonly string[];
}

/** Contents of a request. */
export interface InstallRequest {
  readonly agents: readonly AgentName[];
  /** Files that are shared with others too. */
  readonly withProject: boolean;
  /** Hooks of Codex too, which the user has to trust anew. */
  readonly withCodexHooks: boolean;
  /** The guard against repetition alone, in hooks of the user. */
  readonly withGuard?: boolean | undefined;
  readonly undo: boolean;
  /** Nothing is written; the report has the diffs. */
  readonly dryRun: boolean;
}
