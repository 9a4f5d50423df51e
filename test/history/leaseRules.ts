import type { HistoryRows, JournalFence } from './journalEntry.ts';
import type { SessionHistory } from './sessionHistory.ts';
import type { Refute } from './violation.ts';

/** Tokens only grow and belong to one node each; leases go by the clock of the database; only the owner writes. */
export function checkLeases(history: SessionHistory, { leaseMs }: HistoryRows, refute: Refute): void {
  checkTokens(history, refute);
  checkChanges(history, leaseMs, refute);
  const { session, writes } = history;
  for (const write of writes) {
    const { writer, owner, table, row, token } = write;
    // Calls that a dead owner left are answered by anybody.
    if (owner === writer || (owner === null && table === 'call')) continue;
    const says = `${writer} wrote ${table} ${row}, while the session was ${owner ?? 'nobody'}'s under token ${token}`;
    refute('one_owner', session, says, [write]);
  }
}

function checkTokens({ session, incarnations }: SessionHistory, refute: Refute): void {
  const lastOf = new Map<string, JournalFence>();
  for (const { token, claim, entries } of incarnations) {
    const [first] = entries;
    const other = entries.find(({ node }) => node !== first?.node);
    if (other !== undefined) refute('token_grows', session, `token ${token} is that of two nodes`, [first, other]);
    const claims = entries.filter(({ type }) => type === 'claim');
    if (claims.length > 1) refute('token_grows', session, `token ${token} was given out twice`, claims.slice(0, 2));
    if (claim !== undefined) lastOf.set(claim.node, claim);
  }
}

function checkChanges({ session, leases }: SessionHistory, leaseMs: number | undefined, refute: Refute): void {
  for (const change of leases) {
    const { before, at, until, token, owner } = change;
    if (leaseMs !== undefined && until - at > leaseMs) {
      refute('lease_by_database', session, `a lease of ${until - at} ms, of at most ${leaseMs}`, [change]);
    }
    if (before === null) continue;
    if (token < before.token) refute('token_grows', session, `token ${token} came after ${before.token}`, [change]);
    if (owner !== null && owner !== before.owner && token <= before.token) {
      refute('token_grows', session, `${owner} has the token that was ${String(before.owner)}'s`, [change]);
    }
    if (owner === null || before.owner === null || owner === before.owner || before.until <= at) continue;
    const says = `${owner} took the session ${before.until - at} ms before the lease of ${before.owner} ended`;
    refute('lease_by_database', session, says, [change]);
  }
}
