import { type BreakerRule, breakerRuleNote, readBreakerRule } from '../breakerRule.ts';
import { type FailureKind, type FailureReason, isFailureKind } from '../failures/failure.ts';

/** A failed attempt that the breaker counted. */
export interface CountedFailure {
  readonly kind: FailureKind;
  readonly reason?: FailureReason | undefined;
  /** A line, at most 300 characters. */
  readonly message: string;
  /** The call it was an attempt of, as its other facts name it. */
  readonly call: string;
  /** From 1. */
  readonly attempt: number;
  readonly label?: string | undefined;
  readonly session?: string | undefined;
  /** Time when it failed: wall time in ms since the epoch. */
  readonly at: number;
}

/** Why a circuit is open (O-9). */
export interface BreakerCause {
  /** Kind of the failure that opened it. */
  readonly kind: FailureKind;
  /** Message of the failure that opened it: one line, at most 300 characters. */
  readonly message: string;
  /** Rule that opened it; undefined of an opening that a version without it has kept. */
  readonly rule?: BreakerRule | undefined;
  /** The failures that opened it and were counted in this process, the oldest first; the last 10 of more. */
  readonly failures: readonly CountedFailure[];
}

/** Most failures that are kept of one circuit. */
const mostKept = 10;
const mostChars = 300;

/** The last failures that a breaker has counted, and what opened it. */
export class RecentFailures {
  /** Why the circuit is open; undefined while it is not, and where nobody knows. */
  cause: BreakerCause | undefined;
  #recent: CountedFailure[] = [];
  #text = '';
  #textOf: OpenCause | undefined = undefined;
  #shown: number | 'tried' = Number.NaN;

  /** @param failure - whose message is made a line only once the circuit opens. */
  note(failure: CountedFailure): void {
    this.#recent.push(failure);
    if (this.#recent.length > mostKept) this.#recent.shift();
  }

  /** The circuit opened by the failure that was noted last. What comes from here on belongs to the next opening. */
  opened(rule: BreakerRule): void {
    const last = this.#recent.at(-1);
    if (last === undefined) return;
    // A quota and a failed probe open the circuit by themselves, whatever failed before.
    const count = 'failures' in rule ? rule.failures : 1;
    const failures = this.#recent.slice(-count).map((each) => ({ ...each, message: causeText(each.message) }));
    this.cause = { kind: last.kind, message: causeText(last.message), rule, failures };
    this.#recent = [];
  }

  /** The circuit closed. */
  clear(): void {
    this.cause = undefined;
    this.#recent = [];
  }

  /** A session is erased: nothing of its calls is quoted any more. */
  forget(session: string): void {
    this.cause &&= causeWithout(this.cause, session);
    this.#recent = this.#recent.filter((failure) => failure.session !== session);
  }

  /**
   * Returns what a call is told that the open circuit refuses. Refusals come in floods: the text is made once a second at most.
   * @param nextTry - in so many ms, or `tried`: another call tries it now.
   * @param cause - why it is not tried before. @defaultValue what opened it
   */
  refusal(name: string, nextTry: number | 'tried', cause: OpenCause | undefined = this.cause): string {
    const shown = nextTry === 'tried' ? nextTry : Math.ceil(nextTry / 1000) * 1000;
    if (shown !== this.#shown || cause !== this.#textOf || this.#text === '') {
      this.#shown = shown;
      this.#textOf = cause;
      this.#text = openText(name, cause, shown);
    }
    return this.#text;
  }
}

/** Words on why a circuit is open. */
type OpenCause = Pick<BreakerCause, 'message' | 'rule'>;

/**
 * Says that a circuit is open, why, and when it will be tried.
 * @param nextTry - in so many ms, rounded up to whole seconds, or `tried`: another call tries it now.
 */
export function openText(name: string, cause: OpenCause | undefined, nextTry: number | 'tried'): string {
  const why = cause === undefined || cause.message === '' ? '' : `: ${cause.message}`;
  // Failures in a row explain themselves; a ratio surprises a caller whose other calls went well.
  const rule = cause?.rule?.name === 'failure_ratio' ? breakerRuleNote(cause.rule) : '';
  return `The circuit of ${name} is open${rule}${why}; ${nextTry === 'tried' ? 'another call tries it now' : tryText(nextTry)}`;
}

function tryText(ms: number): string {
  return `next try ${ms > 0 ? `in ${inWords(ms)}` : 'now'}`;
}

function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** The message of a failure as a part of a sentence. */
export function causeText(message: string): string {
  const line = message
    .slice(0, 2 * mostChars)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.slice(0, mostChars).replace(/[\s.:;]+$/, '');
}

/** The cause without what the calls of a session came to: its words too, where they are of one. */
export function causeWithout(cause: BreakerCause, session: string): BreakerCause {
  const isQuoted = cause.failures.at(-1)?.session === session;
  const failures = cause.failures.filter((failure) => failure.session !== session);
  return { ...cause, message: isQuoted ? '' : cause.message, failures };
}

/** Reads what was kept of an earlier process, as far as it can be read. */
export function readBreakerCause(value: unknown): BreakerCause | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, message, failures, rule: kept } = value as Partial<Record<keyof BreakerCause, unknown>>;
  if (!isFailureKind(kind) || typeof message !== 'string') return undefined;
  const rule = readBreakerRule(kept);
  const counted = Array.isArray(failures) ? failures.filter(isCounted) : [];
  return { kind, message, ...(rule !== undefined && { rule }), failures: counted };
}

function isCounted(value: unknown): value is CountedFailure {
  const { kind, message, call } = (value ?? {}) as Partial<Record<keyof CountedFailure, unknown>>;
  return isFailureKind(kind) && typeof message === 'string' && typeof call === 'string';
}
