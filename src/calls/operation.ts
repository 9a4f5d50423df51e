import type { Effect } from '../policy/effects.ts';
import type { Failure } from '../policy/failures/failure.ts';
import type { HeaderSource } from '../policy/failures/hints.ts';
import type { Costs } from '../policy/rateLimit.ts';
import type { TraceContext } from './tracing.ts';

/** Context that an operation is given with its input; a new one for each attempt. */
export interface AttemptContext {
  /** Aborted when this attempt is given up; its `reason` says why. Made when first read. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** Attempts in all that this call may have. */
  readonly maxAttempts: number;
  /**
   * True where the same may be asked again: by another attempt of this call, or by the work whose signal it was given and which is tried again as a whole, as
   * an item of a workflow is. Retries inside of the callee belong bounded then: one owner.
   */
  readonly mayRepeat: boolean;
  /** Effect that the call may have on the world, where somebody said. */
  readonly effect: Effect | undefined;
  /** The same for all attempts of a call, and for no other: a key for what one attempt leaves to the next. */
  readonly call: object;
  /** A sign of life (output, progress): restarts the idle limit, never the others. */
  readonly touch: () => void;
  /**
   * Gives the attempt and its call so much longer, in ms, beside a sign of life: while a person is waited for, who takes no limit of a machine. Each context of a
   * call has it; one that is made by hand need not.
   */
  readonly extend?: ((ms: number) => void) | undefined;
  /**
   * Says what the attempt really costs, in all and by name, as in `spent({ tokens: 812 })`: the rate limit is corrected by what `rate.cost`
   * had estimated. The last word on each cost counts. Does nothing where there is no `rate`.
   */
  readonly spent: (costs: Costs) => void;
  /** Tells the rate limit what an answer says of it in its headers. Does nothing where there is no `rate`, or it does not learn. */
  readonly rateLimit: (headers: HeaderSource) => void;
  /**
   * The trace context of the call by the names of its headers (`traceparent`, `tracestate`), for what is called to go on with. Undefined
   * without telemetry (`unwedge/otel`).
   */
  readonly traceContext?: TraceContext | undefined;
}

/** Work of an integration; it may be synchronous, return any thenable, throw or hang. */
export type Operation<I, O> = (input: I, context: AttemptContext) => O | PromiseLike<O>;

/** Function that answers in place of an integration that cannot; `signal` is aborted at the call's deadline. */
export type Fallback<I, O> = (
  input: I,
  failure: Failure,
  context: { readonly signal: AbortSignal },
) => O | PromiseLike<O>;
