import type { EffectOutcome, Failure, FailureKind } from '../policy/failures/failure.ts';
import { syntheticResult } from '../policy/failures/syntheticResult.ts';

/** Result of a tool call for an agent: always a result, never a throw. */
export type ToolResult<T = unknown> = ToolSuccess<T> | ToolError | SyntheticToolError;

/** Success of a tool call. */
export interface ToolSuccess<T> {
  readonly status: 'ok';
  readonly value: T;
  /** Attempts beyond the first. */
  readonly retries: number;
  /** The answer was lost, and it was found out that the call took place: how, in words. The value is what a reconcile rule gave. */
  readonly reconciled?: string | undefined;
  /** It was not made: the same call was under way still, or had been answered since a limit ended it. @defaultValue it was made */
  readonly joined?: true | undefined;
  /** Sentence of unwedge's for the agent: the call repeats (`session.spinning`), or was not made. The value of an MCP tool has it as its last text too. @defaultValue none */
  readonly note?: string | undefined;
}

/** The tool, or the way to it, answered with an error. */
export interface ToolError {
  readonly status: 'error';
  /** Error in one plain line for the agent. */
  readonly error: string;
  /** Attempts beyond the first. */
  readonly retries: number;
  /** Always false: nothing more is done about it by itself. Whether to try again later is said by `retryable`. */
  readonly recoverable: false;
  /** True where the same call may be made again without finding out first whether it took effect, and may get through then. @defaultValue false */
  readonly retryable?: boolean | undefined;
  /** Earliest time to try again, in ms from now; absent where nobody said. */
  readonly retryAfterMs?: number | undefined;
  /** It was not made: the same call was under way still, or had ended since a limit ended it. @defaultValue it was made */
  readonly joined?: true | undefined;
  /** Sentence of unwedge's at the end of `error`: the call repeats (`session.spinning`). @defaultValue none */
  readonly note?: string | undefined;
}

/** Stands for the answer that never came, and says what is known of its effect. */
export interface SyntheticToolError extends ToolError {
  readonly synthetic: true;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  /** Grounds on which that is known, where a reconcile rule was asked. */
  readonly how?: string | undefined;
  readonly elapsedMs: number;
  readonly attempts: number;
  readonly retryable: boolean;
  /** Wall time in ms since the epoch until which the same call made again gets its answer. @defaultValue its work has ended */
  readonly keptUntil?: number | undefined;
}

/** Kinds that end a call without an answer from the other side. */
const unanswered: ReadonlySet<FailureKind> = new Set([
  'timeout',
  'crash',
  'cancelled',
  'watchdog',
  'circuit_open',
  'too_many_requests',
  'unavailable',
  'spinning',
]);

/** The result of a tool call that failed. */
export function errorResult(failure: Failure, elapsedMs: number): ToolError | SyntheticToolError {
  const { kind, message, attempts, retryable, retryAfterMs } = failure;
  const retries = Math.max(0, attempts - 1);
  if (unanswered.has(kind) || failure.how !== undefined || hidesEffect(failure))
    return { ...syntheticResult(failure, elapsedMs), retries, recoverable: false };
  const again = retryable && { retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { status: 'error', error: message, retries, recoverable: false, ...again };
}

/**
 * Tells whether the words of an error alone would pass over an effect that may have taken place: of an earlier attempt, or of a connection that broke while a
 * call was under way of which somebody has said that it changes something.
 */
function hidesEffect({ kind, outcome, effect, lastOutcome }: Failure): boolean {
  if (lastOutcome !== undefined) return effect !== 'readOnly';
  return kind === 'transient' && outcome === 'unknown' && effect === 'mutating';
}

/** A failure whose words may be handed out and kept: they may quote a child, or an address. */
export function withoutSecrets(failure: Failure, clean: (text: string) => string): Failure {
  const message = clean(failure.message);
  const how = failure.how === undefined ? undefined : clean(failure.how);
  if (message === failure.message && how === failure.how) return failure;
  return { ...failure, message, ...(how !== undefined && { how }) };
}

/** The result with a sentence for the agent: beside an answer, and within it where that is an error or of an MCP tool. */
export function noted(result: ToolResult, note: string): ToolResult {
  if (result.status !== 'ok') return { ...result, error: `${result.error} ${note}`, note };
  const parts = partsOf(result.value);
  const content = parts && [...parts, { type: 'text', text: note }];
  return { ...result, value: content === undefined ? result.value : { ...(result.value as object), content }, note };
}

/** The contents of an MCP tool's answer; undefined of any other. */
export function partsOf(value: unknown): readonly { readonly text?: unknown }[] | undefined {
  const { content } = (value ?? {}) as { readonly content?: unknown };
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const parts: readonly ({ readonly type?: unknown; readonly text?: unknown } | null)[] = content;
  const typed = parts.flatMap((part) => (typeof part?.type === 'string' ? [part] : []));
  return typed.length === parts.length ? typed : undefined;
}
