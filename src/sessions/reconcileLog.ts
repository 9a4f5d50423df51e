import type { Clock } from '../policy/clock.ts';
import type { ReconcileLog } from '../policy/reconciler.ts';
import type { SessionLedger } from './sessionStore.ts';

/** Writes down what is asked about a call, and what was found out. */
export function reconcileLog(ledger: SessionLedger, call: string, clock: Pick<Clock, 'wallNow'>): ReconcileLog {
  return {
    // The question of a session that another runtime has is that one's.
    opened: () => ledger.reconciling(call, clock.wallNow()).then((kept) => kept !== 'fenced'),
    settled: ({ verdict, how }, late) => void ledger.reconciled(call, { verdict, how, late }, clock.wallNow()),
  };
}
