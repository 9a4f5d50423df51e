import type { IntegrationEmitted } from '../machines/integrationEvents.ts';
import type { BreakerCause } from '../policy/records/breakerCause.ts';
import type { Clock, Random } from '../policy/clock.ts';
import type { CallFact } from '../policy/facts/callFacts.ts';
import type { Facts } from '../policy/facts/facts.ts';
import type { Failure, FailureFacts, FailureReason } from '../policy/failures/failure.ts';
import type { WhenAlive } from '../policy/policies.ts';
import type { IntegrationAbout } from '../policy/integrationAbout.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { RetryBudget } from '../policy/retryBudget.ts';
import type { AttemptContext, Operation } from './operation.ts';
import type { CallCounter } from './recorder/callCounter.ts';
import type { DeadlineQueue } from './deadlineQueue.ts';
import type { FlightRecorder } from './recorder/flightRecorder.ts';
import type { IntegrationRates } from './rates/integrationRates.ts';
import type { BudgetAccount } from './rates/budgetAccount.ts';
import type { FailureStreak } from './circuit/breakerCounts.ts';
import type { SignalFanout } from './signalFanout.ts';
import type { SuspicionCause } from './suspicion.ts';
import type { Tracing } from './tracing.ts';

/** Parts of a call path. */
export interface CallPathOptions<I, O> {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly operation: Operation<I, O>;
  /** Operation in place of that for a call whose answer is read as a stream. @defaultValue `operation` */
  readonly streamed?: Operation<I, unknown> | undefined;
  /** The tool an input calls, where it calls one: each has a circuit of its own beside that of the integration. @defaultValue none does */
  readonly toolOf?: ((input: I) => string | undefined) | undefined;
  /** Facts on the integration in the record of a failure. */
  readonly about?: IntegrationAbout<I> | undefined;
  /**
   * Asked after the loss of the server: whether another attempt of a call only asks for what the last one began, and so repeats nothing. Must not throw.
   * @defaultValue each begins anew
   */
  readonly goesOn?: ((input: I, call: object) => boolean) | undefined;
  /** Told of each final failure of a call that was dispatched, after its record. Must not throw. */
  readonly failed?: ((input: I, failure: Failure, about: CallFact) => void) | undefined;
  /** A harmless request that shows whether the integration answers again (MCP `ping`). */
  readonly probe?: ((context: { readonly signal: AbortSignal }) => unknown) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly facts: Facts;
  readonly deadlines: DeadlineQueue;
  readonly signals: SignalFanout;
  /** Returns the time in ms from now to the next try of the thing behind a crashed integration; undefined when nobody knows. */
  readonly restartInMs?: (() => number | undefined) | undefined;
  /** Tells whether its supervisor has given up restarting it, for `restartInMs` or until somebody restarts it by hand. @defaultValue never */
  readonly isQuarantined?: (() => boolean) | undefined;
  /** Told after every change of the breaker, so that it can be kept, with why it is open. Must not throw. */
  readonly onBreaker?: ((event: IntegrationEmitted, cause: BreakerCause | undefined) => void) | undefined;
  /** Told when the server has asked not to be called for so many ms. Must not throw. */
  readonly onPause?: ((pauseMs: number) => void) | undefined;
  /** Counts the failures in a row. @defaultValue one of its own */
  readonly streak?: FailureStreak | undefined;
  /** Counts how its calls end. @defaultValue nobody does */
  readonly statistics?: CallCounter | undefined;
  /** Holds its last attempts. @defaultValue nobody does */
  readonly recorder?: FlightRecorder | undefined;
  /** Follower of its calls. @defaultValue nobody does */
  readonly tracing?: Tracing | undefined;
  /** Budget that its attempts are taken from. @defaultValue none */
  readonly budget?: BudgetAccount | undefined;
  /** Tells whether a call counts against it; others are never refused for it. Must not throw. @defaultValue all do, but the questions of reconcile rules */
  readonly isCounted?: ((input: I) => boolean) | undefined;
  /** Its rate limits. @defaultValue none */
  readonly rate?: IntegrationRates<I> | undefined;
  /** Budget of the retries that all its calls together may make. @defaultValue that of R-4 */
  readonly retryBudget?: RetryBudget | undefined;
  /** Told when the path has stopped: what it shares with others is given back. Must not throw. */
  readonly onStop?: (() => void) | undefined;
  /** Asks whether this process may probe an open circuit that it shares with others. @defaultValue it may */
  readonly claimProbe?: ((leaseMs: number) => boolean) | undefined;
  /** Gives back what {@link CallPathOptions.claimProbe} has given, where the circuit does not change by the probe. Must not throw. */
  readonly releaseProbe?: (() => void) | undefined;
  /**
   * The process behind it, one after the other: which one is there now, and whether one has ended with all that it started. Must not throw.
   * @defaultValue there is none whose end is known
   */
  readonly incarnation?: Incarnations | undefined;
  /** The message of a call that ended by a limit. @defaultValue a neutral one */
  readonly describeTimeout?: ((reason: FailureReason, limitMs: number) => string) | undefined;
  /** Adds the known facts of an attempt that ended by a limit beyond the limit itself; asked at the deadline. Must not throw. */
  readonly amendTimeout?: ((facts: FailureFacts, attempt: AttemptContext) => FailureFacts) | undefined;
  /** Sends the machine also the events that it would ignore: slower, and nothing else. @defaultValue false */
  readonly everyEvent?: boolean | undefined;
  /** Takes plain calls by the steps of all others: slower, and nothing else. @defaultValue false */
  readonly byStep?: boolean | undefined;
  /**
   * Asked when a call ended by its idle or attempt limit, or its caller gave it up in silence: resolves with whether the thing behind it answers at all, when it has or has been ended. Until
   * then nothing is dispatched. Must not throw, and not take for ever.
   */
  readonly onSilence?: ((cause: SuspicionCause) => PromiseLike<boolean>) | undefined;
  /** Fate of a call that is silent for its idle limit while `onSilence` finds the other side alive. @defaultValue 'end' */
  readonly whenAlive?: WhenAlive | undefined;
}

/** The processes behind an integration, numbered. */
export interface Incarnations {
  readonly current: number | undefined;
  isGone(incarnation: number | undefined): boolean;
}

/** An open circuit as an earlier run or another process has left it. `openUntil` is monotonic ms. */
export interface OpenCircuit {
  readonly openUntil: number;
  readonly openings: number;
  readonly cause?: BreakerCause | undefined;
}

/** Facts that another process has learnt of the server that this one calls as well. */
export interface Learnt {
  readonly circuit?: OpenCircuit | 'closed' | undefined;
  /** Until when the server asked not to be called, in monotonic ms. */
  readonly pausedUntil?: number | undefined;
}

/** Facts about an integration when its machine begins. */
export interface Beginning {
  /** Its circuit was left open by an earlier run. */
  readonly open?: OpenCircuit | undefined;
  /** Until when its server asked an earlier run not to be called, in monotonic ms. */
  readonly pausedUntil?: number | undefined;
  /** The thing behind it has yet to start: calls wait for it as for a restart. */
  readonly down?: boolean | undefined;
}

/**
 * Figures of an integration: `attempts`, `waiting`, `abandoned` and `retryTokens` are as of now, the others count since it was made. Each call
 * that has ended is in one of `succeeded`, `failed` and `refused`, whether a fallback answered it or not.
 */
export interface CallStats {
  /** Attempts under way. */
  readonly attempts: number;
  /** Calls that wait: for a permit, a backoff, a restart, a limit of rate. */
  readonly waiting: number;
  /** Calls that the integration answered. */
  readonly succeeded: number;
  /** Calls that it did not answer. */
  readonly failed: number;
  /** Calls that were refused before their first attempt: by an open circuit, a limit, a stop. */
  readonly refused: number;
  /** Number of those that failed or were refused whose caller was answered by a fallback. */
  readonly fellBack: number;
  /** Attempts whose answer or error came after they were given up. */
  readonly late: number;
  /** Attempts that were given up and whose work goes on after its grace. */
  readonly abandoned: number;
  /** Rest of the retry budget. */
  readonly retryTokens: number;
}
