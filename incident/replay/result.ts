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
