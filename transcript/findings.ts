/** Names of what may be wrong with a transcript. */
export const repairRules = [
  'unanswered',
  'displaced',
  'duplicate',
  'orphan',
  'repeated_call',
  'ambiguous_id',
  'partial_call',
  'split_turn',
  'disconnected',
  'torn_end',
  'broken_line',
] as const;

/**
 * Faults that a transcript may have:
 * - `unanswered`: a tool call without a result; it gets a synthetic one.
 * - `displaced`: a result that is not where its call asks for it; it is moved there.
 * - `duplicate`: a second result of one call; it is dropped. What one says that is real and differs is joined to the first.
 * - `orphan`: a result without a call; it is dropped.
 * - `repeated_call`: a call of the same id that asks for the same as one before it in its turn, and was answered once; it is dropped.
 * - `ambiguous_id`: a call without an id, or with that of a different call in its turn; it gets one of its own, as does its result.
 *   A result without an id gets that of its call.
 * - `partial_call`: a call that was cut off while the model wrote it, and so was never made; it is dropped, with the reasoning that
 *   led to nothing else.
 * - `split_turn`: parallel calls of one turn in several messages; these become one.
 * - `disconnected`: a line whose parent was lost in a broken line; it hangs from the last line before that.
 * - `torn_end`: a last line that was cut off; it gets its end, so that what is appended later is a line of its own.
 * - `broken_line`: a line that is no JSON; it is kept as it is, since readers pass over it.
 */
export type RepairRule = (typeof repairRules)[number];

/** A finding, and its place. */
export interface TranscriptFinding {
  readonly rule: RepairRule;
  /** Index of the message or item in the history as it was given, from 0; of JSON lines the number of the line, from 1. */
  readonly at: number;
  readonly callId?: string | undefined;
  /** Name of the tool that was called. */
  readonly tool?: string | undefined;
  /** For a duplicate: whether it said something else than the one that was kept, to which it was joined. */
  readonly differs?: boolean | undefined;
}

/** Number of times that each rule applied. */
export type RepairCounts = Readonly<Record<RepairRule, number>>;

/** Findings of a repair. */
export interface TranscriptReport {
  /** Everything that was changed, as a number; 0 for a history that is well-formed. */
  readonly repairs: number;
  readonly counts: RepairCounts;
  /** In the order of their places, the first 1000 of them; `counts` knows all. */
  readonly findings: readonly TranscriptFinding[];
}

/** Enough to look at; a history that is wrong everywhere must not fill the memory. */
const mostListed = 1000;

export class Findings {
  readonly #counts = Object.fromEntries(repairRules.map((rule) => [rule, 0])) as Record<RepairRule, number>;
  readonly #listed: TranscriptFinding[] = [];

  add(finding: TranscriptFinding): void {
    this.#counts[finding.rule]++;
    if (this.#listed.length < mostListed) this.#listed.push(finding);
  }

  report(): TranscriptReport {
    const { broken_line: _kept, ...changes } = this.#counts;
    return {
      repairs: Object.values(changes).reduce((sum, count) => sum + count, 0),
      counts: { ...this.#counts },
      findings: this.#listed.toSorted((a, b) => a.at - b.at),
    };
  }
}
