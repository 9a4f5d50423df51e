import type { killPrograms, ProgramsReport } from './killPrograms.mjs';

/** Sums and violations of programs that were short of something. */
export interface LimitsReport extends ProgramsReport {
  /** Limits that cannot be had here. */
  readonly missing: readonly string[];
}

export function limitPrograms(options: Parameters<typeof killPrograms>[0]): Promise<LimitsReport>;
