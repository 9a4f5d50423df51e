import type { Outcome } from '../policy/failure.ts';
import { lostCallFact, lostCallResult } from './lostCall.ts';
import { reconcileLog } from './reconcileLog.ts';
import type { SessionScope } from './sessionScope.ts';
import type { LostCall, SessionLedger } from './sessionStore.ts';
import { errorResult, type ToolResult } from './toolResult.ts';

/**
 * Finds out what became of calls that an earlier gateway left open, and answers them in the ledger. Those that a stop cuts short stay open for
 * the next start. Takes as long as their rules may; never rejects.
 */
export async function settleOpenCalls(
  scope: SessionScope,
  ledger: SessionLedger,
  open: readonly LostCall[],
): Promise<void> {
  await Promise.all(open.map((call) => settleOpenCall(scope, ledger, call)));
}

async function settleOpenCall(scope: SessionScope, ledger: SessionLedger, call: LostCall): Promise<void> {
  const { clock, tools } = scope;
  const outcome = await new Promise<Outcome<unknown> | undefined>((resolve) => {
    try {
      tools.recover(call, reconcileLog(ledger, call.call, clock), resolve);
    } catch {
      // Its integration is there, and does not take what an earlier version sent: nobody can be asked.
      resolve(undefined);
    }
  });
  if (outcome?.ok === false && outcome.failure.reason === 'stopped') return;
  const wallNow = clock.wallNow();
  const result = outcome === undefined ? lostCallResult(call, wallNow) : resultOf(call, outcome, wallNow);
  await ledger.settle(call.call, result, undefined, wallNow);
  if (result.status === 'ok') return;
  const kind = outcome?.ok === false ? outcome.failure.kind : undefined;
  const fact = lostCallFact(call);
  scope.facts.tell({ ...fact, kind: kind ?? fact.kind, message: result.error, synthetic: 'synthetic' in result });
}

function resultOf(call: LostCall, outcome: Outcome<unknown>, wallNow: number): ToolResult {
  if (!outcome.ok) return errorResult(outcome.failure, Math.max(0, wallNow - call.startedAt));
  const { value, reconciled } = outcome;
  return { status: 'ok', value, retries: 0, ...(reconciled !== undefined && { reconciled }) };
}
