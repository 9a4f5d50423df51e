import type { CodexOptions } from '../../codex/codexOptions.ts';
import type { CodexThreadOptions } from '../../codex/codexTypes.ts';

/** What is Codex's alone: how its app-server is run, and how threads are begun. */
export interface CodexBackendOptions
  extends Omit<CodexOptions, 'cwd' | 'env' | 'policy' | 'approve' | 'approvalMs' | 'effect'> {
  /** How its threads are begun and resumed: `sandbox`, `approvalPolicy` and so on. @defaultValue {} */
  readonly thread?: Omit<CodexThreadOptions, 'cwd' | 'model' | 'signal'> | undefined;
}
