import type { StreamReader } from '../calls/callSettings.ts';
import type { CallStep } from '../calls/callTrail.ts';
import type { CallWhy } from '../calls/callWhy.ts';
import type { Effect } from '../policy/effects.ts';
import type { ReconcileLog } from '../policy/reconciler.ts';
import type { CallRule, LostCall } from './sessionStore.ts';
import type { Failure, FailureFacts, Outcome } from '../policy/failure.ts';
import type { CheckedReading } from '../streams/httpReading.ts';
import type { TargetWhy } from './why.ts';
import type { OrderNote, OrderResult } from '../policy/operatorOrder.ts';

/** A call under way that can be ended from outside. */
export interface PendingCall {
  /** @returns the failure that it ends with, with what is known of its attempts; undefined where it had ended. */
  end(facts: FailureFacts): Failure | undefined;
  /** Tells what it waits for as of now; undefined once it is settled. */
  why(): CallWhy | undefined;
  /** Attempts that failed and waits that are over, also once it is settled. */
  steps(): readonly CallStep[];
  /** Has the rule of this id act now. @param announce - told before it acts, where it does. @param note - who wants it. */
  fire(rule: string, announce: () => void, note: OrderNote): OrderResult;
  /** Has no further attempt follow. @param announce - told before, where one could have. */
  stopRetrying(announce: () => void): OrderResult;
}

/** A call of an earlier gateway of which it is found out what became. */
export type RecoveredCall = Pick<PendingCall, 'why'>;

/** A tool whose answer is a stream. */
export interface ToolStreaming {
  readonly reader: StreamReader<unknown>;
  /** Reading of the answer of an HTTP API. @defaultValue as its integration says */
  readonly reading: CheckedReading | undefined;
}

export interface ToolCallSettings {
  readonly session: string;
  /** Its id in the history and the ledger. */
  readonly call: string;
  readonly effect: Effect | undefined;
  readonly signal: AbortSignal | undefined;
  readonly scope: string | undefined;
  readonly replace: boolean | undefined;
  /** Time left for the call, waits and retries included, in ms. */
  readonly overallMs: number;
  /** True where `overallMs` is a limit the tool declared for itself, which then is that of each attempt too. */
  readonly longRunning: boolean;
  /** Gets a value that came after the call had been answered. */
  readonly late: (value: unknown) => void;
  /** By which the other side knows the call again, where its rule gives it a key. */
  readonly idempotencyKey?: string | undefined;
  /** Follows the question what became of it. */
  readonly reconcileLog?: ReconcileLog | undefined;
  /** Reads the tool's answer as a stream. */
  readonly stream?: ToolStreaming | undefined;
}

/** Way of a session to its tools; retries of a session's call are decided by the session's policy alone. */
export interface ToolPort {
  /**
   * Starts one supervised call; `settled` is told its one outcome and the attempts made, maybe before this returns.
   * @throws RangeError when there is no integration of that name.
   */
  call(
    integration: string,
    tool: string,
    input: unknown,
    options: ToolCallSettings,
    settled: (outcome: Outcome<unknown>, attempts: number) => void,
  ): PendingCall;
  /** Finds what settles a lost answer of the tool, and the key of a new call where that does it. */
  ruleOf(
    integration: string,
    tool: string,
    input: unknown,
    session: string,
  ): { readonly rule: CallRule; readonly idempotencyKey?: string | undefined } | undefined;
  /** Tells whether {@link recover} can find out what became of a call whose gateway ended. */
  canRecover(call: LostCall): boolean;
  /** Finds that out as the rule of its tool says: asks, or makes the call again with its key. Never takes for ever. */
  recover(call: LostCall, log: ReconcileLog, settled: (outcome: Outcome<unknown>) => void): RecoveredCall;
  /** The limit a tool declares for itself, in ms, when it is long-running. */
  longRunningMs(integration: string, tool: string): number | undefined;
  /** Gives what a call of the tool may do to the world, as far as is known by now, where the call itself does not say. */
  effect(integration: string, tool: string, input: unknown): Effect | undefined;
  /** Tells whether the answers of an integration can be read in several ways. */
  isRead(integration: string): boolean;
  /** Gives what an integration says of itself; undefined when there is none of that name. */
  why(integration: string): TargetWhy | undefined;
}
