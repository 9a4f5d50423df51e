import type { IncidentSubject } from '../incident.ts';

/** Something whose end or change is compared: a call, a circuit, a turn. */
export interface ReplayStep {
  /** Subject of the line: `kb-12`, `circuit of kb`, `turn 3 of alice`. */
  readonly of: string;
  /** Event in words: `failed: timeout, 3 attempts`. */
  readonly what: string;
  /** Ms from the begin of the replay. */
  readonly atMs: number;
  /** It came after the record ended, or in the replay within 20 ms of that: the other side need not have it. */
  readonly isAfterEnd?: true | undefined;
}

/** A line of the timeline: what was recorded, what the replay did. */
export interface ReplayLine {
  readonly of: string;
  readonly recorded?: ReplayStep | undefined;
  readonly replayed?: ReplayStep | undefined;
  readonly isSame: boolean;
  /** It is not the same, and is no difference: all of it came after the record ended. */
  readonly isAfterEnd?: true | undefined;
}

/** Result of a replay. */
export interface ReplayResult {
  readonly subject: IncidentSubject;
  /** Wall time of its begin, in ms since the epoch. */
  readonly origin: number;
  /**
   * True where everything ended as it did: each call with the same kind and number of attempts, each circuit and turn at the same time (± 250 ms), up to the
   * end of the record.
   */
  readonly isSame: boolean;
  /** Line where it first differs, by the time of the record. */
  readonly first?: ReplayLine | undefined;
  /** In the order of time. */
  readonly lines: readonly ReplayLine[];
  /** Changes to what it was, as they were asked for. */
  readonly overrides: readonly string[];
  /** Notes on what was not played, and what had to be assumed, in sentences. */
  readonly notes: readonly string[];
}

/** Most that a change may be apart in the replay, in ms: what runs on a machine is late by some, and events are kept to a whole ms. */
export const toleranceMs = 250;

/** Puts what was recorded beside what the replay did, by what it is about. */
export function compare(
  recorded: readonly ReplayStep[],
  replayed: readonly ReplayStep[],
): Pick<ReplayResult, 'isSame' | 'first' | 'lines'> {
  const [ours, theirs] = [bySubject(recorded), bySubject(replayed)];
  const lines = [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((of) => {
    const [before, after] = [ours.get(of) ?? [], theirs.get(of) ?? []];
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) =>
      lineOf(of, before[index], after[index]),
    );
  });
  const inTime = lines
    .filter(({ recorded: one, replayed: other }) => one !== undefined || !isCall(other))
    .toSorted((one, other) => timeOf(one) - timeOf(other));
  const first = inTime.find(({ isSame, isAfterEnd }) => !isSame && isAfterEnd !== true);
  return { isSame: first === undefined, first, lines: inTime };
}

function lineOf(of: string, recorded: ReplayStep | undefined, replayed: ReplayStep | undefined): ReplayLine {
  const isSame = isSameStep(recorded, replayed);
  const isAfterEnd = !isSame && [recorded, replayed].every((step) => step === undefined || step.isAfterEnd === true);
  return { of, recorded, replayed, isSame, ...(isAfterEnd && { isAfterEnd }) };
}

function isSameStep(recorded: ReplayStep | undefined, replayed: ReplayStep | undefined): boolean {
  if (recorded === undefined || recorded.what !== replayed?.what) return false;
  return isCall(recorded) || Math.abs(recorded.atMs - replayed.atMs) <= toleranceMs;
}

/** A call ends when it ends; that of which the record does not know the end is not compared. */
function isCall(step: ReplayStep | undefined): boolean {
  return step !== undefined && !/^(?:circuit of|session) /.test(step.of);
}

/** Keeps events of one subject in the order in which they were told: a machine may set its clock back. */
function bySubject(steps: readonly ReplayStep[]): ReadonlyMap<string, readonly ReplayStep[]> {
  const all = new Map<string, ReplayStep[]>();
  for (const step of steps) {
    const known = all.get(step.of);
    if (known === undefined) all.set(step.of, [step]);
    else known.push(step);
  }
  return all;
}

const timeOf = ({ recorded, replayed }: ReplayLine): number => recorded?.atMs ?? replayed?.atMs ?? 0;
