import type { StoredCall } from '../../src/sessions/sessionStore.ts';
import type { ToolResult } from '../../src/sessions/toolResult.ts';
import type { Case } from '../harness/suite.ts';

/** Where calls are kept: a row before each is dispatched, its result after. */
export interface Ledger {
  /** Keeps calls, `inFlight` at a time. */
  run(calls: readonly StoredCall[], inFlight: number): void | Promise<void>;
  close(): void | Promise<void>;
}

export const result: ToolResult = { status: 'ok', value: { found: 3, text: 'three results' }, retries: 0 };

/** Keeps `count` calls, `inFlight` at a time. */
export function keepCalls(ledgerOf: () => Ledger | Promise<Ledger>, count: number, inFlight: number): Case {
  return {
    async measure(probe) {
      const ledger = await ledgerOf();
      const calls = makeCalls(count);
      const tookMs = await probe.time('call', count, async () => {
        const before = performance.now();
        await ledger.run(calls, inFlight);
        return performance.now() - before;
      });
      probe.record('calls a second', (count * 1000) / tookMs, '/s');
      await ledger.close();
    },
  };
}

function makeCalls(count: number): StoredCall[] {
  const at = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    call: `agent:main-1-${index + 1}`,
    turn: 1,
    integration: 'search',
    tool: 'query',
    input: { text: 'supervision trees', limit: 10 },
    effect: 'readOnly',
    seq: index + 1,
    at,
    deadlineAt: at + 300_000,
  }));
}
