import type { FlightOfCall, FlightRow, PendingRow, RecordedFailure } from '../policy/records/flight.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from '../policy/policy.ts';
import type { CallSettings } from './callOptions.ts';

/** Settings of a call as a recorder holds them: data alone, so that it keeps nothing of its caller alive. */
export type SettingsBrief = ReturnType<typeof briefOf>;

export function briefOf<I, O>(settings: CallSettings<I, O>) {
  const { retry, effect, label, session, ledgerCall: sessionCall, scope, ownLimits } = settings;
  return {
    retry,
    label,
    session,
    sessionCall,
    scope,
    effect,
    limits: limitsIn(settings),
    ownLimits: ownLimits && limitsIn(ownLimits),
    isStream: settings.stream !== undefined,
    hasFallback: settings.fallback !== undefined,
    isProbe: settings.isProbe === true,
  };
}

function limitsIn({ idleMs, attemptMs, overallMs }: Limits): Limits {
  return { idleMs, attemptMs, overallMs };
}

/** The facts without what was thrown, which may be anything. */
export function recordedFailure(failure: FailureFacts): RecordedFailure {
  return withoutMissing(withoutCause(failure)) as RecordedFailure;
}

/** The same with every name: refused calls come in floods, and what is missing is looked for only in those that are written. */
export function withoutCause(failure: FailureFacts): RecordedFailure {
  return {
    kind: failure.kind,
    message: failure.message,
    outcome: failure.outcome,
    how: failure.how,
    retryAfterMs: failure.retryAfterMs,
    probeAfterMs: failure.probeAfterMs,
    shouldRetry: failure.shouldRetry,
    leaves: failure.leaves,
    resumable: failure.resumable,
    status: failure.status,
    code: failure.code,
    breaker: failure.breaker,
    alerts: failure.alerts,
    reason: failure.reason,
  };
}

/** A copy without names that have no value. */
function withoutMissing<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** The limits and retry policies of calls that have others than their integration, each once, by their places. */
export class SettingsTable {
  readonly limits: Limits[] = [];
  readonly retries: RetryPolicy[] = [];
  readonly #policy: IntegrationPolicy;
  readonly #places = new Map<string, number>();

  constructor(policy: IntegrationPolicy) {
    this.#policy = policy;
  }

  /** The settings of a call as its rows have them. */
  of(brief: SettingsBrief): Omit<FlightOfCall, 'call' | 'arrivedAt' | 'tool'> {
    const { limits, ownLimits, retry, isStream, hasFallback, isProbe, ...names } = brief;
    const own = this.#placeOf(this.limits, limits, this.#policy.limits);
    return withoutMissing({
      ...names,
      limits: own,
      ownLimits: ownLimits && own !== undefined ? this.#placeOf(this.limits, ownLimits) : undefined,
      retry: this.#placeOf(this.retries, retry, this.#policy.retry),
      isStream: isStream || undefined,
      hasFallback: hasFallback || undefined,
      isProbe: isProbe || undefined,
    });
  }

  /** @param usual - what needs no place. */
  #placeOf<T extends object>(table: T[], value: T, usual?: T): number | undefined {
    if (value === usual) return undefined;
    const key = keyOf(value);
    if (usual !== undefined && key === keyOf(usual)) return undefined;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, table.length);
    return table.push(value) - 1;
  }
}

/** The same for the same content. `Infinity` is no JSON. */
function keyOf(value: object): string {
  return JSON.stringify(value, (_, each: unknown) => (each === Number.POSITIVE_INFINITY ? 'Infinity' : each));
}

/** A row in monotonic time, with settings that have no place yet. */
type Held<R extends FlightRow> = R extends FlightOfCall
  ? Omit<R, Exclude<keyof FlightOfCall, 'call' | 'arrivedAt' | 'tool'>> & { readonly settings: SettingsBrief }
  : R;
/** A row as the recorder holds it. */
export type HeldRow = Held<Exclude<FlightRow, PendingRow>>;

/** Tells whether all calls without options of their own have these settings: nothing of a caller is in them. */
export function isOfNobody<I, O>(settings: CallSettings<I, O>): boolean {
  const { signal, fallback, stream, keep, late, retried, givenUp, reconcileLog } = settings;
  return (signal ?? fallback ?? stream ?? keep ?? late ?? retried ?? givenUp ?? reconcileLog) === undefined;
}

/** The row as it is written. @param wall - makes wall time of monotonic time. */
export function asRow(row: HeldRow, table: SettingsTable, wall: (at: number) => number): FlightRow {
  if (row.what === 'input' || row.what === 'work') return { ...row, at: wall(row.at) };
  const { settings, ...rest } = row;
  const times = { arrivedAt: wall(row.arrivedAt), endedAt: wall(row.endedAt) };
  const failure = row.failure && { failure: withoutMissing(row.failure) as RecordedFailure };
  const told = { ...withoutMissing(rest), ...table.of(settings), ...times, ...failure };
  return rest.what === 'attempt' ? ({ ...told, startedAt: wall(rest.startedAt) } as FlightRow) : (told as FlightRow);
}
