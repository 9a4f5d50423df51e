import type { ErrorPattern } from '../policy/classify.ts';
import type { Effect } from '../policy/effects.ts';
import type { FailureFacts } from '../policy/failure.ts';
import type { Limits, RetryPolicy } from '../policy/policy.ts';
import type { StreamedAttempt } from '../streams/chunkRelay.ts';
import type { ReconcileLog, Reconciler } from '../policy/reconciler.ts';
import type { Fallback, Operation } from './operation.ts';

/** Reads streams for a call. */
export interface StreamReader<I> {
  /** The input of the next attempt. */
  inputOf(input: I): I;
  /** Settles when the stream has ended. Answers must have become streams by then. */
  read(answer: unknown, attempt: StreamedAttempt): Promise<unknown>;
  /** Attempts that may follow: any, only one that goes on where this one ended, or none. */
  readonly continuation: 'any' | 'resumes' | 'none';
}

/** Everything a call is made with, checked and complete. */
export interface CallSettings<I, O> extends Limits {
  /** The limits of the integration, or of its tool, where the caller may have given others. @defaultValue these */
  readonly ownLimits?: Limits | undefined;
  readonly retry: RetryPolicy;
  readonly effect: Effect | undefined;
  /** Returns its effect as the other side says, as of now; asked where `effect` is undefined. Must not throw. */
  readonly learnedEffect?: (() => Effect | undefined) | undefined;
  readonly label: string | undefined;
  readonly session: string | undefined;
  /** Scope whose calls come one at a time. */
  readonly scope?: string | undefined;
  /** Lets it end the call that holds its scope, rather than be refused. */
  readonly replace?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
  /** Rule that settles lost answers. @defaultValue nothing does */
  readonly reconcile?: Reconciler | undefined;
  /** Log that follows that for the ledger. @defaultValue nobody does */
  readonly reconcileLog?: ReconcileLog | undefined;
  /** Its id in the ledger of its session. @defaultValue it is in none */
  readonly ledgerCall?: string | undefined;
  /** By which the other side knows it again, where its rule gives it a key. @defaultValue a new one */
  readonly idempotencyKey?: string | undefined;
  /** True where an earlier process had sent it, and lost its answer: it may have taken effect before its first attempt here. @defaultValue false */
  readonly isSentBefore?: boolean | undefined;
  readonly fallback: Fallback<I, O> | undefined;
  /** Texts of errors and the kinds they stand for, besides those that are known. */
  readonly patterns?: readonly ErrorPattern[] | undefined;
  /** Told when an attempt is given up, for work that would rather not have a signal made for it; must not throw. */
  readonly givenUp?: ((input: I, facts: FailureFacts) => void) | undefined;
  /** Told when an attempt failed and the call will try again; must not throw. */
  readonly retried?: ((facts: FailureFacts, attempt: number) => void) | undefined;
  /** Gets a value that came after the call had ended; must not throw. */
  readonly late?: ((value: O) => void) | undefined;
  /** Reader of the answer of each attempt as a stream; the call ends when that has. */
  readonly stream?: StreamReader<I> | undefined;
  /** Operation that answers with that stream. @defaultValue what the integration does for a stream */
  readonly streamed?: Operation<I, unknown> | undefined;
  /** True where it is part of a turn, which may end while new calls are refused. */
  readonly underWay?: boolean | undefined;
  /** True where its outcome settles a promise: nobody runs before the step is complete, so that need not wait for its end. @defaultValue false */
  readonly isPromised?: boolean | undefined;
  /** True where it belongs to a call of another integration, which alone is told and counted. @defaultValue false */
  readonly isPart?: boolean | undefined;
  /** True where a reconcile rule makes it, to find out the fate of another: it is counted as a tool of its own. @defaultValue false */
  readonly isQuestion?: boolean | undefined;
  /** True for the integration's own harmless probe, which no caller made. */
  readonly isProbe?: boolean | undefined;
}
