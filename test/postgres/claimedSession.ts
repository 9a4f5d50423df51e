import type { Fact } from '../../src/policy/facts/facts.ts';
import type { Claim, RecoveryLimits, SessionLedger } from '../../src/sessions/sessionStore.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';

export const now = Date.UTC(2026, 0, 1);

export const limits: RecoveryLimits = {
  maxDeliveries: 3,
  maxAgeMs: 1000,
  wallNow: now,
  answer: () => ({ status: 'error', error: 'lost', retries: 0, recoverable: false }),
  facts: (): readonly Fact[] => [],
};

export const message = (number: number) => ({
  number,
  message: { kind: 'user', text: `text ${number}` },
  key: undefined,
  at: now,
});

/** The ledger of a session, claimed by a runtime of this store. */
export async function claimed(store: PostgresStore, runtime: string, session = 's'): Promise<SessionLedger> {
  const claim = await asked(store, runtime, session);
  if (claim === undefined || claim.held) throw new Error(`${session} is not ${runtime}'s`);
  return claim.ledger;
}

export function asked(store: PostgresStore, runtime: string, session = 's'): Promise<Claim | undefined> {
  return store.sessions({ id: runtime, isAlive: () => true }).claim(session, limits);
}
