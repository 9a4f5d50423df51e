import { checkCalls } from './callRules.ts';
import type { HistoryRows, JournalEntry } from './journalEntry.ts';
import { checkLeases } from './leaseRules.ts';
import { checkMessages } from './messageRules.ts';
import { checkSenders } from './senderRules.ts';
import { isEnded, type SessionHistory, sessionsOf } from './sessionHistory.ts';
import type { HistoryViolation, Refute } from './violation.ts';

/** What became of a history. */
export interface HistoryVerdict {
  /** Empty where every promise was kept. */
  readonly violations: readonly HistoryViolation[];
  readonly sessions: number;
  readonly claims: number;
  /** Messages that a sender was told are kept. */
  readonly accepted: number;
  /** Messages that a node brought to their end, or that the database says have one. */
  readonly ended: number;
  readonly calls: number;
}

/**
 * Judges what several gateways on one database did, by the journals that each of them wrote and by what the database holds in the end: only owners
 * wrote, nothing acknowledged is lost, nothing was processed to its end twice, each call has one result, order was kept. No clock of a node is
 * believed: of two nodes the one with the higher token came later.
 *
 * A write of which no node heard the end may have been made or not: a journal says only what its node knows. Never throws.
 *
 * @param entries - of all nodes; those of one node in the order in which it wrote them.
 * @param rows - what the database says.
 * @example
 * const { violations } = checkHistory(journals.flat(), { messages, calls });
 * for (const violation of violations) console.log(describeViolation(violation));
 */
export function checkHistory(entries: Iterable<JournalEntry>, rows: HistoryRows = {}): HistoryVerdict {
  const violations: HistoryViolation[] = [];
  const refute: Refute = (rule, session, says, evidence) => {
    violations.push({ rule, session, says, evidence: evidence.filter((each) => each !== undefined) });
  };
  const sessions = sessionsOf(entries, rows);
  for (const session of sessions) {
    checkLeases(session, rows, refute);
    checkMessages(session, rows, refute);
    checkCalls(session, rows, refute);
    checkSenders(session, rows, refute);
  }
  return { violations, ...countOf(sessions) };
}

function countOf(sessions: readonly SessionHistory[]): Omit<HistoryVerdict, 'violations'> {
  const sum = (of: (session: SessionHistory) => number): number =>
    sessions.reduce((before, each) => before + of(each), 0);
  return {
    sessions: sessions.length,
    claims: sum(({ incarnations }) => incarnations.filter(({ claim }) => claim !== undefined).length),
    accepted: sum(
      ({ senders }) => new Set(senders.flatMap((each) => (each.type === 'accepted' ? [each.key] : []))).size,
    ),
    ended: sum(({ incarnations, messages }) => {
      const heard = incarnations.flatMap(({ entries }) =>
        entries.flatMap((each) => (each.type === 'end' && each.unheard !== true ? [each.message] : [])),
      );
      return new Set([...heard, ...messages.flatMap((row) => (isEnded(row.state) ? [row.number] : []))]).size;
    }),
    calls: sum(({ incarnations, calls }) => {
      const heard = incarnations.flatMap(({ entries }) =>
        entries.flatMap((each) => (each.type === 'dispatch' ? [each.call] : [])),
      );
      return new Set([...heard, ...calls.map(({ id }) => id)]).size;
    }),
  };
}
