import type { Claim, SessionLedger, SessionStore } from '../../../src/sessions/sessionStore.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';

/** Who keeps the books of what is written. */
export interface LedgerBooks {
  readonly verdict: (call: string, verdict: string) => void;
  readonly settled: (call: string, result: ToolResult) => void;
}

/** Sessions whose verdicts and results are heard as they are written. */
export function watchedSessions(store: SessionStore, books: LedgerBooks): SessionStore {
  return {
    recoverCalls: (limits) => store.recoverCalls(limits),
    unowned: (most) => store.unowned(most),
    claim: async (session, limits) => watchedClaim(await store.claim(session, limits), books),
    claimAll: async (sessions) => ((await store.claimAll?.(sessions)) ?? []).map((claim) => watchedClaim(claim, books)),
  };
}

/** Its ledger is made when it is asked for, as that of a session that sleeps. */
function watchedClaim(claim: Claim | undefined, books: LedgerBooks): Claim | undefined {
  if (claim === undefined || claim.held) return claim;
  return {
    held: false,
    recovered: claim.recovered,
    past: (historyLimit) => claim.past(historyLimit),
    get ledger() {
      return watched(claim.ledger, books);
    },
  };
}

function watched(ledger: SessionLedger, { verdict, settled }: LedgerBooks): SessionLedger {
  return new Proxy(ledger, {
    get(target, name) {
      const method = Reflect.get(target, name) as ((...given: unknown[]) => unknown) | undefined;
      // Of what only some engines have.
      if (method === undefined) return undefined;
      return (...given: unknown[]): unknown => {
        if (name === 'reconciled') verdict(given[0] as string, (given[1] as { verdict: string }).verdict);
        if (name === 'settle') settled(given[0] as string, given[1] as ToolResult);
        return method.apply(target, given);
      };
    },
  });
}
