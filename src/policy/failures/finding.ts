import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import type { RetryHint } from './hints.ts';

/** Finding from one piece of evidence about a failed attempt. */
export interface Finding {
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
  /** HTTP status. */
  readonly status?: number | undefined;
  /** errno name, JSON-RPC code, close code, exit code, signal, or the error type of an API. */
  readonly code?: string | number | undefined;
  /** Meaning to the breaker where that is not what its kind means. */
  readonly breaker?: 'ignored' | undefined;
  /** A quota of any window: with a short hint it is a rate limit. */
  readonly isAnyWindow?: true | undefined;
  /** Nothing but the name of the error says so. */
  readonly isNameAlone?: true | undefined;
  /** A message says so, in JSON that it holds. */
  readonly isOfText?: true | undefined;
  readonly hint?: RetryHint | undefined;
  /** The structure is known and its text would mislead: text says nothing more about it. */
  readonly settled?: true | undefined;
}

/** Findings that the tables of codes, names and texts share. */
export const means = {
  auth: { kind: 'auth', outcome: 'failed' },
  permanent: { kind: 'permanent', outcome: 'failed' },
  notFound: { kind: 'permanent', outcome: 'failed', reason: 'not_found' },
  tooLarge: { kind: 'permanent', outcome: 'failed', reason: 'message_too_large' },
  contextLength: { kind: 'permanent', outcome: 'failed', reason: 'context_length' },
  unpaired: { kind: 'permanent', outcome: 'failed', reason: 'history_unpaired' },
  quota: { kind: 'quota', outcome: 'failed' },
  rateLimit: { kind: 'rate_limit', outcome: 'failed' },
  overloaded: { kind: 'overloaded', outcome: 'failed' },
  /** Nothing was sent. */
  unsent: { kind: 'transient', outcome: 'not_started' },
  /** The other side said no, for now. */
  refused: { kind: 'transient', outcome: 'failed' },
  /** The other side ended with an error of its own. */
  broken: { kind: 'transient', outcome: 'unknown' },
  disconnected: { kind: 'transient', outcome: 'unknown', reason: 'connection_lost' },
  timeout: { kind: 'timeout', outcome: 'unknown' },
  cancelled: { kind: 'cancelled', outcome: 'cancelled' },
  crash: { kind: 'crash', outcome: 'unknown' },
  closed: { kind: 'crash', outcome: 'unknown', reason: 'connection_closed' },
  spawn: { kind: 'spawn', outcome: 'not_started' },
  /** A handshake was refused, by them or by us. */
  handshake: { kind: 'protocol', outcome: 'not_started' },
  protocol: { kind: 'protocol', outcome: 'unknown' },
  unspoken: { kind: 'protocol', outcome: 'failed' },
  unknown: { kind: 'unknown', outcome: 'unknown' },
} as const satisfies Readonly<Record<string, Finding>>;

/** A code, name or text, and what it means. */
export type Row<Test = RegExp> = readonly [test: Test, meaning: Finding];

/** Finds the first row that fits. */
export function byPattern(rows: readonly Row[], text: string, code: Finding['code'] = text): Finding | undefined {
  const meaning = rows.find(([pattern]) => pattern.test(text))?.[1];
  return meaning && { ...meaning, code };
}

/** Finds the row that lists a number. */
export function byNumber(
  rows: readonly Row<readonly number[]>[],
  number: number,
  code: Finding['code'] = number,
): Finding | undefined {
  const meaning = rows.find(([numbers]) => numbers.includes(number))?.[1];
  return meaning && { ...meaning, code };
}

/** Rows of texts that mean the same. A group named `code` is the close code or errno name that the text tells. */
export const texts = (meaning: Finding, patterns: readonly RegExp[]): readonly Row[] =>
  patterns.map((pattern) => [pattern, meaning]);
