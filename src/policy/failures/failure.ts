import type { Effect } from '../effects.ts';

/** The kinds of failure; one table serves retry, breaker and alerts (see {@link failureKinds}). */
export type FailureKind =
  | 'transient'
  | 'overloaded'
  | 'rate_limit'
  | 'quota'
  | 'timeout'
  | 'crash'
  | 'protocol'
  | 'spawn'
  | 'auth'
  | 'permanent'
  | 'unknown'
  | 'cancelled'
  | 'watchdog'
  | 'circuit_open'
  | 'too_many_requests'
  | 'unavailable'
  | 'spinning';

/** The closed list of reasons that narrow a kind, each in a few words; docs/failure-modes.md shows them. */
export const failureReasons = {
  attempt_timeout: 'the limit on one attempt passed',
  budget: 'a budget is spent',
  by_operator: 'an operator cancelled the call or the turn, or fired the rule that ended it',
  codex_not_found: 'there is no command `codex`',
  connection_closed: 'the server closed the connection in good order, with requests unanswered',
  closed: 'the session was closed',
  connection_lost: 'the connection broke, or its process died',
  context_length: 'the prompt is longer than the model takes',
  denied: 'a rule of the operator keeps the tool from being called',
  empty_response: 'the program ended well and said nothing',
  hang: 'the server answered no sign of life and was killed',
  held: 'the tool changed, or is new, and nobody has accepted that yet',
  history_unpaired: 'the history has a tool call without its result, or the other way round',
  idle_timeout: 'no sign of life for the idle limit',
  init_rejected: 'the server refused the handshake',
  init_timeout: 'the handshake was not answered in time',
  isolated: 'an operator holds the circuit open',
  lease_expired: 'the call held its scope for longer than its lease',
  message_too_large: 'a message is longer than its limit',
  not_found: 'what was named does not exist',
  output_cut: 'the program ended, and a process that it started held its output: the end of it was not read',
  overall_timeout: 'the limit on the whole call passed, waits and retries included',
  quarantined: 'the supervisor gave up restarting',
  reader_left: 'the reader of a stream stopped reading',
  replaced: 'a later call of the same scope took its place',
  restarted: 'an operator had the integration restarted',
  retry_budget: 'the integration has spent its retries for now',
  scope_busy: 'another call holds the scope',
  startup_failed: 'the process ended before it was ready',
  stopped: 'the gateway or the integration stopped',
  taken_over: 'this runtime has lost the session, which goes on at its next owner',
  tool_error: 'the tool answered with an error',
  turn_ended: 'the turn was over',
} as const satisfies Readonly<Record<string, string>>;

/** Why a call failed, more narrowly than its kind; see {@link failureReasons}. */
export type FailureReason = keyof typeof failureReasons;

/** Reasons of calls that a rule of the operator kept from their server: they say nothing of it. */
export const ruleReasons: readonly (FailureReason | undefined)[] = ['denied', 'held'];

/**
 * Meaning of an attempt to the circuit breaker: no usable answer (`failure`), a prompt answer that proves life (`alive`: resets the streak, closes a probe,
 * is still an error to the caller), or nothing at all (`ignored`: frees a probe's place).
 */
export type BreakerOutcome = 'failure' | 'alive' | 'ignored';

/**
 * Knowledge of the effect of a failed call: it never reached the other side (`not_started`), the other side said no (`failed`), it was dispatched and the
 * answer is lost (`unknown`), or it was ended on request (`cancelled`). For a lost answer a reconcile rule may have found out that the effect took place
 * (`done`), or did not (`not_done`).
 */
export type EffectOutcome = 'not_started' | 'failed' | 'unknown' | 'cancelled' | 'done' | 'not_done';

interface KindRow {
  readonly retried: boolean;
  readonly breaker: BreakerOutcome;
  /** True where a final failure of this kind counts towards an alert. */
  readonly alerts: boolean;
}

const row = (retried: boolean, breaker: BreakerOutcome, alerts: boolean): KindRow => ({ retried, breaker, alerts });

/** Table 1 of docs/requirements.md as data. `quota` also opens the breaker at once; `spawn` with E2BIG is `ignored` by it. */
export const failureKinds: Readonly<Record<FailureKind, KindRow>> = {
  transient: row(true, 'failure', true),
  overloaded: row(true, 'failure', true),
  rate_limit: row(true, 'ignored', true),
  quota: row(false, 'failure', true),
  timeout: row(true, 'failure', true),
  crash: row(true, 'failure', true),
  protocol: row(false, 'failure', true),
  spawn: row(false, 'failure', true),
  auth: row(false, 'alive', true),
  permanent: row(false, 'alive', false),
  unknown: row(false, 'failure', true),
  cancelled: row(false, 'ignored', false),
  watchdog: row(false, 'failure', true),
  circuit_open: row(false, 'ignored', false),
  too_many_requests: row(false, 'ignored', false),
  unavailable: row(false, 'ignored', false),
  spinning: row(false, 'ignored', true),
};

export function isFailureKind(value: unknown): value is FailureKind {
  return typeof value === 'string' && Object.hasOwn(failureKinds, value);
}

/** Time for which a call is kept that a limit has ended. */
export interface KeptFor {
  /** In ms from the failure. */
  readonly forMs: number;
  /** The same as wall time, in ms since the epoch. */
  readonly until: number;
  /** `false` where that is not on disk, and is not known once this process has ended. @defaultValue it is, or nothing is said of it */
  readonly onRecord?: boolean | undefined;
}

/** Facts that classification finds out about one failed attempt. */
export interface FailureFacts {
  readonly kind: FailureKind;
  readonly reason?: FailureReason | undefined;
  /** Plain line for people; never contains secrets of ours. */
  readonly message: string;
  /** Effect, as far as it is known. */
  readonly outcome: EffectOutcome;
  /** Words on how it is known, where a reconcile rule was asked: `list_payments lists it as ch_42`. */
  readonly how?: string | undefined;
  /** Time before which the other side asked not to be called again, in ms from now. */
  readonly retryAfterMs?: number | undefined;
  /** Time when an open circuit may ask whether that still holds, in ms from now. @defaultValue `retryAfterMs` */
  readonly probeAfterMs?: number | undefined;
  /** Word of the other side about retrying (`x-should-retry`); wins over the table, but `true` does not for `auth`, `permanent` and `cancelled`. */
  readonly shouldRetry?: boolean | undefined;
  /**
   * `lost`: nothing proves that the attempt had no effect, whatever its kind; that was read from the last words of a command that ran. It is
   * repeated as a lost answer is.
   */
  readonly leaves?: 'lost' | undefined;
  /** The next attempt goes on where this one ended instead of repeating it. */
  readonly resumable?: true | undefined;
  /** HTTP status. */
  readonly status?: number | undefined;
  /** errno name, JSON-RPC code, WebSocket close code or exit code. */
  readonly code?: string | number | undefined;
  /** Meaning of the attempt to the breaker where that is not what its kind means. */
  readonly breaker?: BreakerOutcome | undefined;
  /** `false` for one that counts towards no alert, whatever its kind: our own event loop had stood still, or nothing was sent. */
  readonly alerts?: false | undefined;
  /** Its work goes on, and the same call, made again in its session, gets its answer. @defaultValue its work has ended, or was told to */
  readonly kept?: KeptFor | undefined;
  readonly cause?: unknown;
}

/** Why a call did not succeed: a plain value without a stack of its own; a thrown error is kept as `cause`. */
export interface Failure extends FailureFacts {
  /** Name of the integration the call went to. */
  readonly integration: string;
  /** Attempts made, the first included; 0 when the call was refused before dispatch. */
  readonly attempts: number;
  /**
   * True where the same call may be made again as it is, and may get through then. `false` where it may have taken effect and repeating it might do so twice:
   * that is to be found out first.
   */
  readonly retryable: boolean;
  /** Effect that the call may have on the world, where somebody said and its outcome is open (`unknown`, `cancelled`). */
  readonly effect?: Effect | undefined;
  /**
   * Effect that the last attempt alone left behind, where that is known and `outcome` is not: an earlier attempt may have taken effect.
   */
  readonly lastOutcome?: EffectOutcome | undefined;
  /** Error that the fallback failed with that was asked in its place; of an integration or an agent an {@link IntegrationError}. */
  readonly fallbackError?: unknown;
}

/** End of every call: with a value, or with a failure as a value. */
export type Outcome<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** The answer was lost, and a reconcile rule found out that the effect took place: how, in words. The value is what the rule gave. */
      readonly reconciled?: string | undefined;
    }
  | { readonly ok: false; readonly failure: Failure };

/** The throwable form of a {@link Failure}, for callers who want one (see {@link unwrap}). */
export class IntegrationError extends Error {
  override readonly name = 'IntegrationError';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.failure = failure;
  }
}

/** Error that an integration throws when it already knows what went wrong; classification takes its facts as they are. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly facts: FailureFacts;
  constructor(facts: FailureFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.facts = facts;
  }
}

/**
 * The value of an outcome.
 * @throws {@link IntegrationError} when the call failed.
 */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new IntegrationError(outcome.failure);
}
