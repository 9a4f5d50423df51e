import type { Clock } from '../policy/clock.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import type { ReconcileLog } from '../policy/reconciler.ts';
import { lostCallFact, lostCallResult } from './lostCall.ts';
import type { SessionScope } from './sessionScope.ts';
import type { LostCall, SessionLedger } from './sessionStore.ts';
import type { PendingCall } from './toolPort.ts';
import { errorResult, type ToolResult, withoutSecrets } from './toolResult.ts';
import type { ToolCallWhy } from './why.ts';

interface OpenCall {
  readonly call: LostCall;
  recovered: Pick<PendingCall, 'why'> | undefined;
}

/** Calls that an earlier gateway left open, until their rules have said what became of them. */
export class OpenCalls {
  readonly #scope: SessionScope;
  readonly #open = new Set<OpenCall>();

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /**
   * Finds out what became of calls, and answers them in the ledger. Those that a stop cuts short stay open for the next start. Takes as long as
   * their rules may; never rejects.
   */
  async settle(ledger: SessionLedger, calls: readonly LostCall[]): Promise<void> {
    await Promise.all(calls.map((call) => this.#settleOne(ledger, call)));
  }

  /** Tells what those that are open wait for. */
  why(): readonly ToolCallWhy[] {
    const { clock, tools } = this.#scope;
    return [...this.#open].map(({ call: { call, integration, tool, startedAt }, recovered }) => ({
      ...{ call, integration, tool, sinceMs: Math.max(0, clock.wallNow() - startedAt) },
      ...{ progress: recovered?.why(), target: tools.why(integration) },
    }));
  }

  async #settleOne(ledger: SessionLedger, call: LostCall): Promise<void> {
    const { clock, facts, clean } = this.#scope;
    const open: OpenCall = { call, recovered: undefined };
    this.#open.add(open);
    const outcome = cleaned(await this.#outcomeOf(ledger, open), clean);
    this.#open.delete(open);
    if (outcome?.ok === false && outcome.failure.reason === 'stopped') return;
    const wallNow = clock.wallNow();
    const result = outcome === undefined ? lostCallResult(call, wallNow) : resultOf(call, outcome, wallNow);
    await ledger.settle(call.call, result, undefined, wallNow);
    if (result.status === 'ok') return;
    const kind = outcome?.ok === false ? outcome.failure.kind : undefined;
    const fact = lostCallFact(call);
    facts.tell({ ...fact, kind: kind ?? fact.kind, message: result.error, synthetic: 'synthetic' in result });
  }

  #outcomeOf(ledger: SessionLedger, open: OpenCall): Promise<Outcome<unknown> | undefined> {
    const { clock, tools } = this.#scope;
    const { call } = open;
    return new Promise((resolve) => {
      try {
        open.recovered = tools.recover(call, reconcileLog(ledger, call.call, clock), resolve);
      } catch {
        // Its integration is there, and does not take what an earlier version sent: nobody can be asked.
        resolve(undefined);
      }
    });
  }
}

function resultOf(call: LostCall, outcome: Outcome<unknown>, wallNow: number): ToolResult {
  if (!outcome.ok) return errorResult(outcome.failure, Math.max(0, wallNow - call.startedAt));
  const { value, reconciled } = outcome;
  return { status: 'ok', value, retries: 0, ...(reconciled !== undefined && { reconciled }) };
}

function cleaned<T>(outcome: Outcome<T> | undefined, clean: (text: string) => string): Outcome<T> | undefined {
  return outcome?.ok === false ? { ok: false, failure: withoutSecrets(outcome.failure, clean) } : outcome;
}

/** Writes down what is asked about a call, and what was found out. */
export function reconcileLog(ledger: SessionLedger, call: string, clock: Pick<Clock, 'wallNow'>): ReconcileLog {
  return {
    // The question of a session that another runtime has is that one's.
    opened: () => ledger.reconciling(call, clock.wallNow()).then((kept) => kept !== 'fenced'),
    settled: ({ verdict, how }, late) => void ledger.reconciled(call, { verdict, how, late }, clock.wallNow()),
  };
}
