import type { Effect } from '../effects.ts';
import type { FailureFacts } from '../failures/failure.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from '../policy.ts';

/** Failure as it is kept: its facts without what was thrown. */
export type RecordedFailure = Omit<FailureFacts, 'cause'>;

/** Fields that the rows of one call have in common. Times are wall time, in ms since the epoch. Anything left out is as the policy has it. */
export interface FlightOfCall {
  /** Unique within the integration and the run of its process: `kb-12` is call 12 of `kb`. */
  readonly call: number;
  readonly arrivedAt: number;
  readonly tool?: string | undefined;
  readonly label?: string | undefined;
  readonly session?: string | undefined;
  /** The id that its session knows it by: `alice-7-1`, the first call of turn 7. */
  readonly sessionCall?: string | undefined;
  readonly scope?: string | undefined;
  readonly effect?: Effect | undefined;
  /** Its place in the `limits` of the record. */
  readonly limits?: number | undefined;
  /** The limits against which its own are short: their place. */
  readonly ownLimits?: number | undefined;
  /** Its place in the `retries` of the record. */
  readonly retry?: number | undefined;
  readonly isStream?: true | undefined;
  readonly hasFallback?: true | undefined;
  /** The integration's own harmless probe, which nobody called. */
  readonly isProbe?: true | undefined;
}

/** End of an attempt: it answered, it threw, a limit passed, its server was lost, or its caller ended it. */
export type AttemptEnd = 'answered' | 'threw' | 'limit' | 'lost' | 'ended';

/** An attempt that has ended. */
export interface AttemptRow extends FlightOfCall {
  readonly what: 'attempt';
  /** From 1. */
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: AttemptEnd;
  readonly failure?: RecordedFailure | undefined;
  /** Time that the call waited after it for its next attempt; `null`: for a restart. Absent where none followed. */
  readonly delayMs?: number | null | undefined;
  /** Number that chance drew for that wait, 0 to 1. */
  readonly draw?: number | undefined;
  /** Continuation that might follow a stream. */
  readonly continuation?: 'resumes' | 'none' | undefined;
}

/** The end of a call that did not end with an answer of its integration. */
export interface CallEndRow extends FlightOfCall {
  readonly what: 'end';
  readonly attempts: number;
  readonly endedAt: number;
  readonly end: 'failed' | 'refused' | 'fell_back';
  readonly failure: RecordedFailure;
}

/** The work of an attempt that was given up has ended. */
interface WorkRow {
  readonly what: 'work';
  readonly call: number;
  readonly attempt: number;
  readonly at: number;
}

/** Events that befell an integration from outside. */
export type Befell =
  /** Its machine began, with what was known then. Times are in ms from now. */
  | {
      readonly input: 'attached';
      readonly down: boolean;
      readonly openForMs?: number | undefined;
      readonly openings?: number | undefined;
      readonly pausedForMs?: number | undefined;
    }
  /** Its server is gone. */
  | { readonly input: 'crashed'; readonly failure: RecordedFailure; readonly quietly: boolean }
  /** Its server is back; an operator closed its circuit, had it probed, or had it restarted; it has stopped. */
  | { readonly input: 'restarted' | 'reset' | 'probed' | 'restart' | 'stopped' }
  /** Somebody holds its circuit open, or that of a tool, or lets go of it. */
  | { readonly input: 'isolated' | 'released'; readonly hold: number; readonly tool?: string | undefined }
  /** An operator had the rule act that was to end a wait of a call next, or had the call not be tried again. */
  | { readonly input: 'fired'; readonly call: number; readonly rule: string }
  | { readonly input: 'retriesStopped'; readonly call: number }
  /** The circuit of a tool was closed by hand. */
  | { readonly input: 'toolReset'; readonly tool: string }
  /** Another process opened or closed the circuit they share, or was asked to pause. */
  | {
      readonly input: 'adopted';
      readonly closed?: true | undefined;
      readonly openForMs?: number | undefined;
      readonly openings?: number | undefined;
      readonly pausedForMs?: number | undefined;
    }
  /** Its server was asked for a sign of life, and that is what came of it after `forMs`; earlier versions did not tell that. */
  | { readonly input: 'inquired'; readonly alive: boolean; readonly forMs?: number | undefined };

/** The same with its time. */
export type InputRow = Befell & { readonly what: 'input'; readonly at: number };

/** A call that had not ended when the record was written. */
export interface PendingRow extends FlightOfCall {
  readonly what: 'pending';
  /** The attempt in flight, or the last one made; 0 before the first. */
  readonly attempt: number;
  /** Time when the attempt in flight started. */
  readonly startedAt?: number | undefined;
  /** An attempt is in flight, or what the call waits for. */
  readonly waitsFor: string;
  readonly at: number;
}

export type FlightRow = AttemptRow | CallEndRow | WorkRow | InputRow | PendingRow;

/** Content of a flight recorder that was not written before. */
export interface Flight {
  readonly rows: readonly FlightRow[];
  /** Limits of calls that had others than the policy of their integration. */
  readonly limits: readonly Limits[];
  readonly retries: readonly RetryPolicy[];
  /** Attempts and ends that the recorder had dropped before it was asked. */
  readonly missed: number;
}

/** Why a record was written. */
export type FlightReason = 'failure' | 'breaker' | 'crash' | 'watchdog' | 'alert' | 'stop' | 'asked';

/** A record as it is kept. Times are wall time, in ms since the epoch. */
export interface FlightRecord extends Flight {
  readonly integration: string;
  /** The run of a gateway, and of it the time for which the integration was declared: numbers of calls begin anew with each. */
  readonly run: string;
  readonly pid: number;
  readonly at: number;
  readonly because: FlightReason;
  /** The mark of the policy that was in force; absent in what an earlier version wrote. */
  readonly policy?: string | undefined;
}

/** Traits of an integration beside its policy, as far as its calls go by them. */
export interface IntegrationTraits {
  /** Set where its server can be asked for a sign of life: what becomes of a silent call meanwhile. */
  readonly asks?: 'end' | 'wait' | undefined;
  /** True where a harmless request tries its circuit. */
  readonly probes?: true | undefined;
  /** True where it has a process or connection that comes up after it was declared. */
  readonly startsDown?: true | undefined;
}

/** Limits of a session's watchdog, in ms. */
export interface SessionLimits {
  readonly toolCallMs: number;
  readonly turnMs: number;
  readonly releaseMs: number;
  readonly recoveryMs: number;
}

/** Policy that was in force. */
export type KeptPolicy =
  | { readonly of: 'integration'; readonly policy: IntegrationPolicy; readonly traits: IntegrationTraits }
  | { readonly of: 'session'; readonly watchdog: SessionLimits };

/** A policy as it is kept: once for each name and content. Times are wall time, in ms since the epoch. */
export interface PolicyRow {
  /** Name of the integration, or of the session. */
  readonly name: string;
  readonly kept: KeptPolicy;
  readonly since: number;
  /** Time when it was last seen in force. */
  readonly seenAt: number;
}
