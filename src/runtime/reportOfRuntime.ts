import { type ReportEntry, reportOf, reportSpan } from '../policy/records/callReport.ts';
import { duration, type Given } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import type { Runtime } from './runtime.ts';

const reportKeys = {
  /** The time that it is about, up to now, in ms above 0. @defaultValue 24 h */
  sinceMs: duration({ default: 24 * 60 * 60_000 }),
};

/** Subject of a report. */
export interface ReportOptions extends Given<typeof reportKeys> {}

/** Reports how the calls of all runtimes on the store have worked, those of this one as of now. */
export async function reportOfRuntime(
  { statistics, store, clock }: Pick<Runtime, 'statistics' | 'store' | 'clock'>,
  options: ReportOptions = {},
): Promise<readonly ReportEntry[]> {
  const { sinceMs } = readOptions('report', options, reportKeys);
  const span = reportSpan(clock.wallNow(), sinceMs);
  statistics.keep();
  await store()?.flush();
  return reportOf((await store()?.statistics.read(span.from)) ?? [], span);
}
