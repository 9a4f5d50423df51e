import type { Approver } from '../../src/integrations/approvals/approvals.ts';
import type { BegunCommands } from './protocol/begunCommands.ts';
import type { CodexScope } from './codexScope.ts';
import type { CodexTelemetry } from './codexTelemetry.ts';
import type { ThreadState } from './codexThreadState.ts';

/** Scope that the parts of one process of the app-server share. */
export interface RunScope {
  readonly codex: CodexScope;
  readonly approver: Approver;
  readonly telemetry: CodexTelemetry;
  readonly threads: Map<string, ThreadState>;
  /** Commands that the turns of all threads began. */
  readonly begun: BegunCommands;
  /** Work that an end in good order waits for. */
  readonly busy: Set<Promise<unknown>>;
}
