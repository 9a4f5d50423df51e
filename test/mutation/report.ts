import type { Place } from './sample.ts';

/** The reason of mutants that are not run, as Stryker hands it on. */
export const notDrawn = 'not in the sample';

/** A report of Stryker, as far as it is read: https://github.com/stryker-mutator/mutation-testing-elements has its schema. */
export interface Report {
  readonly files: Readonly<Record<string, ReportedFile>>;
}

interface ReportedFile {
  readonly source: string;
  readonly mutants: readonly ReportedMutant[];
}

interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: Place['location'];
  readonly status:
    | 'Killed'
    | 'Timeout'
    | 'Survived'
    | 'NoCoverage'
    | 'CompileError'
    | 'RuntimeError'
    | 'Ignored'
    | 'Pending';
  readonly statusReason?: string;
}

/** A change, and what became of it. Lines and columns are those of an editor. */
export interface Mutant extends Place {
  readonly code: string;
  readonly status: 'killed' | 'timeout' | 'survived' | 'uncovered';
}

/** All that a run has said of some files: the mutants that were tried, and how many there are. */
export interface Tried {
  readonly mutants: readonly Mutant[];
  /** All that could have been drawn. */
  readonly drawable: number;
  /** Texts for people. */
  readonly ignored: number;
  /** Drawn, and refused by the compiler. */
  readonly refused: number;
}

const statuses = { Killed: 'killed', Timeout: 'timeout', Survived: 'survived', NoCoverage: 'uncovered' } as const;

/** @returns what a report says of the files that match. */
export function read(report: Report, matches: (file: string) => boolean): Tried {
  const mutants: Mutant[] = [];
  let drawable = 0;
  let ignored = 0;
  let refused = 0;
  for (const [file, { source, mutants: all }] of Object.entries(report.files)) {
    if (!matches(file)) continue;
    for (const { mutatorName, replacement = '', location, status, statusReason } of all) {
      if (status === 'Ignored') ignored += 1;
      else if (status === 'CompileError' && statusReason === notDrawn) drawable += 1;
      else if (status === 'CompileError') {
        drawable += 1;
        refused += 1;
      } else if (status in statuses) {
        drawable += 1;
        const known = statuses[status as keyof typeof statuses];
        mutants.push({ file, mutator: mutatorName, replacement, location, code: cut(source, location), status: known });
      }
    }
  }
  return { mutants, drawable, ignored, refused };
}

function cut(source: string, { start, end }: Place['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] ?? '').slice(0, end.column - 1);
  lines[0] = (lines[0] ?? '').slice(start.column - 1);
  return lines.join('\n');
}
