import type { Approver } from '../../../src/integrations/approvals/approvals.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { SdkOptions, SdkQueryFunction } from './agentSdkTypes.ts';
import type { ClaudeSettings } from './claudeBackendOptions.ts';

/** Scope that all conversations of an agent have in common. */
export interface ClaudeScope {
  readonly runtime: Runtime;
  readonly agent: string;
  readonly settings: ClaudeSettings;
  readonly query: () => Promise<SdkQueryFunction>;
  /** Returns the options of every query; with the environment. */
  readonly options: () => SdkOptions;
  /** Variables that it is given of its own: what they hold is in no message. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** Absent when nobody is to be asked: Claude then declines by itself. */
  readonly approver: Approver | undefined;
  readonly processId: () => string;
}
