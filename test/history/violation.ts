import type { JournalEntry, LeaseChange, MessageRow, CallRow, RowWrite } from './journalEntry.ts';

/** A promise that several nodes on one database give together. */
export type HistoryRule =
  /** Only the owner of a session writes to it: what a later owner found is what the earlier ones had written. */
  | 'one_owner'
  /** The token of a session only grows, and each belongs to one node. */
  | 'token_grows'
  /** A lease is taken when it has run out or was given back, and lives no longer than it may: by the clock of the database. */
  | 'lease_by_database'
  /** What was acknowledged is there, and comes to its end. */
  | 'nothing_lost'
  /** No message is processed to its end twice, is in a session twice under one key, or is delivered twice without a reason. */
  | 'nothing_doubled'
  /** Each call has exactly one recorded result, the one its agent was given. */
  | 'one_result'
  /** Messages of a session are processed in the order of their numbers, which is that in which each sender sent. */
  | 'in_order';

/** What shows that a promise was not kept. */
export type Evidence = JournalEntry | MessageRow | CallRow | LeaseChange | RowWrite;

/** A promise that was not kept. */
export interface HistoryViolation {
  readonly rule: HistoryRule;
  readonly session: string;
  /** In one sentence. */
  readonly says: string;
  /** As little as shows it. */
  readonly evidence: readonly Evidence[];
}

/** Told of each violation. */
export type Refute = (
  rule: HistoryRule,
  session: string,
  says: string,
  evidence: readonly (Evidence | undefined)[],
) => void;

/** The violation in lines: what it is, and what shows it. */
export function describeViolation({ rule, session, says, evidence }: HistoryViolation): string {
  return [`${rule} in ${session}: ${says}`, ...evidence.map((each) => `  ${JSON.stringify(each)}`)].join('\n');
}
