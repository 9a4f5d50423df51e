import type { Runtime } from '../src/runtime/face.ts';
import type { WorkflowEventLog } from './eventLog.ts';
import type { Handover } from './handover.ts';
import type { CheckedReconcile } from './itemRule.ts';
import type { RunRecords } from './runRecords.ts';

/** Parts that all turns of one run share. */
export interface RunParts<I, R> extends Pick<Runtime, 'clock' | 'deadlines'> {
  readonly id: string;
  readonly input: I;
  readonly session: string | undefined;
  readonly concurrency: number;
  readonly overallMs: number;
  readonly log: WorkflowEventLog;
  readonly records: RunRecords;
  readonly handover: Handover<R>;
  /** Questions about items whose end is not known. */
  readonly reconcile: CheckedReconcile | undefined;
}
