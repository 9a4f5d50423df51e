import type { CodexOptions } from '../../codex/codexOptions.ts';
import type { CodexThreadOptions } from '../../codex/codexTypes.ts';

/** Options that are Codex's alone: how its app-server is run, and how threads are begun. */
export interface CodexBackendOptions
  extends Omit<CodexOptions, 'cwd' | 'env' | 'policy' | 'approve' | 'approvalMs' | 'effect'> {
  /** Options to begin and resume its threads: `sandbox`, `approvalPolicy` and so on. @defaultValue {} */
  readonly thread?: Omit<CodexThreadOptions, 'cwd' | 'model' | 'signal'> | undefined;
}
