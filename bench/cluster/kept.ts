import { systemClock } from '../../src/runtime/systemClock.ts';
import type { SessionLedger } from '../../src/sessions/sessionStore.ts';
import { openStore } from '../../src/store/openStore.ts';
import { type Keeping, newPlace, result, sessions } from './database.ts';

const limits = {
  maxDeliveries: 3,
  maxAgeMs: 86_400_000,
  answer: () => result,
  facts: () => [],
};

/** The ledgers of sessions of one node, as their mailboxes and turns write them. */
export async function keptByUnwedge(): Promise<Keeping> {
  const { url, schema } = await newPlace();
  const facts = { tell: () => undefined, wants: () => false };
  const path = `${url}?schema=${schema}&leaseMs=60000`;
  const store = await openStore({ path, required: true, clock: systemClock, facts, env: {} });
  const mine = store.sessions?.({ id: 'bench', isAlive: () => false });
  const ledgers = new Map<string, SessionLedger>();
  for (const session of sessions) {
    const claim = await mine?.claim(session, { ...limits, wallNow: Date.now() });
    if (claim === undefined || claim.held) throw new Error(`${session} could not be claimed`);
    ledgers.set(session, claim.ledger);
  }
  const ledgerOf = (session: string): SessionLedger => {
    const ledger = ledgers.get(session);
    if (ledger === undefined) throw new Error(`There is no ${session}`);
    return ledger;
  };
  return {
    async send(messages, inFlight) {
      let next = 0;
      const lane = async (): Promise<void> => {
        for (let sent = messages[next++]; sent !== undefined; sent = messages[next++]) {
          if ((await ledgerOf(sent.session).post(sent)) !== 'durable') throw new Error('A message was not kept');
        }
      };
      await Promise.all(Array.from({ length: inFlight }, lane));
    },
    async call(calls) {
      const ledger = ledgerOf('agent:0');
      for (const call of calls) {
        await ledger.open(call);
        await ledger.settle(call.call, result, call.seq, call.at);
      }
    },
    close: () => store.close(),
  };
}
