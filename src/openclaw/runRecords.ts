import type { RunRecord } from './supervisorTypes.ts';

/** How many runs that ended are remembered. */
const mostExited = 2000;

/** What is known of runs: of those under way all, of the others the last ones. */
export class RunRecords {
  readonly #records = new Map<string, RunRecord>();
  readonly #exited = new Set<string>();

  get(runId: string): RunRecord | undefined {
    return this.#records.get(runId);
  }

  add(record: RunRecord): void {
    this.#exited.delete(record.runId);
    this.#records.set(record.runId, record);
  }

  /** Changes a record, unless a newer run of the same id has taken its place. @returns the record as it is now. */
  change(record: RunRecord, change: Partial<RunRecord>, at: number): RunRecord {
    const changed: RunRecord = { ...record, ...change, updatedAtMs: at };
    if (this.#records.get(record.runId) !== record) return changed;
    this.#records.set(record.runId, changed);
    if (changed.state === 'exited') this.#forgetOldest(record.runId);
    return changed;
  }

  #forgetOldest(exited: string): void {
    this.#exited.add(exited);
    const [oldest] = this.#exited;
    if (this.#exited.size <= mostExited || oldest === undefined) return;
    this.#exited.delete(oldest);
    this.#records.delete(oldest);
  }
}
