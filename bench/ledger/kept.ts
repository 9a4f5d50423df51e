import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/openStore.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { type Ledger, result } from './calls.ts';

/** The ledger of a session, as its turns write it. */
export async function keptLedger(): Promise<Ledger> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
  const facts = { tell: () => undefined, wants: () => false };
  const store = await openStore({ path: join(directory, 'kept.sqlite'), clock: systemClock, facts, env: {} });
  const claimed = await store.sessions?.({ id: 'bench', isAlive: () => false }).claim('agent:main', {
    maxDeliveries: 3,
    maxAgeMs: 86_400_000,
    wallNow: Date.now(),
    answer: () => result,
    facts: () => [],
  });
  if (claimed === undefined || claimed.held) throw new Error('The session could not be claimed');
  const { ledger } = claimed;
  return {
    async run(calls, inFlight) {
      let next = 0;
      const lane = async (): Promise<void> => {
        for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
          await ledger.open(call);
          await ledger.settle(call.call, result, call.seq, call.at);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, lane));
    },
    async close() {
      await store.close();
      rmSync(directory, { recursive: true });
    },
  };
}
