import { defaultAlertRule, deliveryNames } from '../src/policy/face.ts';
import type { AlertEnd } from '../src/policy/facts/face.ts';
import type { PersistedBreaker } from '../src/policy/records/face.ts';
import type { Row } from '../src/store/face.ts';
import { alertIn } from '../src/store/tables/face.ts';
import type {
  AlertView,
  ClearedAlert,
  FailureFigures,
  IntegrationStatus,
  RuntimeFailures,
  SessionStatus,
  StoreStatus,
  UnwatchedAlert,
} from './storeReader.ts';

/** Spans that status tells of, in ms: figures of the last minutes, and of the last day. */
export const shortMs = 10 * 60_000;
export const longMs = 24 * 60 * 60_000;

/** Failures of an integration that one process has recorded. */
interface FailuresOf {
  readonly integration: string;
  readonly failures: RuntimeFailures;
}

/** By integration, those with a circuit that is kept included. @param rows - of one integration by the time of their last error. */
export function integrationsIn(
  breakers: ReadonlyMap<string, PersistedBreaker>,
  rows: readonly FailuresOf[],
): IntegrationStatus[] {
  const found = new Map<string, RuntimeFailures[]>([...breakers.keys()].map((name) => [name, []]));
  for (const { integration, failures } of rows) {
    const list = found.get(integration) ?? [];
    found.set(integration, list);
    list.push(failures);
  }
  return [...found]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([integration, each]) => {
      const breaker = breakers.get(integration);
      const runtimes = each.filter(({ pid }) => pid !== undefined);
      return { integration, ...sumOf(each), circuit: breaker?.state ?? 'closed', breaker, runtimes };
    });
}

/** The figures in a row, with the last error beside them. */
export function failuresIn(row: Row, lastError: LastError): FailuresOf {
  const { pid } = row;
  return {
    integration: String(row['integration']),
    failures: {
      pid: typeof pid === 'number' ? pid : undefined,
      failures10m: Number(row['failures10m']),
      failures24h: Number(row['failures24h']),
      crashes10m: Number(row['crashes10m']),
      crashes24h: Number(row['crashes24h']),
      lastError,
    },
  };
}

/** @param rows - by the time of their last error. */
function sumOf(rows: readonly RuntimeFailures[]): FailureFigures {
  const total = (figure: Exclude<keyof FailureFigures, 'lastError'>): number =>
    rows.reduce((sum, row) => sum + row[figure], 0);
  return {
    failures10m: total('failures10m'),
    failures24h: total('failures24h'),
    crashes10m: total('crashes10m'),
    crashes24h: total('crashes24h'),
    ...(rows.length > 0 && { lastError: rows.at(-1)?.lastError }),
  };
}

type LastError = NonNullable<FailureFigures['lastError']>;

/**
 * The sessions in rows with what failed of each.
 * @param seen - by when they were seen last. @param turns - that failed, by session. @param calls - the same of tool calls.
 */
export function sessionsIn(
  seen: readonly Row[],
  turns: readonly Row[],
  calls: readonly Row[],
  lastErrorOf: (row: Row) => LastError,
): Pick<StoreStatus, 'sessions' | 'moreSessions'> {
  const [failedTurns, failedCalls] = [turns, calls].map((rows) => new Map(rows.map((row) => [row['session'], row])));
  const sessions = seen.map((row): SessionStatus => {
    const [turn, call] = [failedTurns?.get(row['session']), failedCalls?.get(row['session'])];
    const last = turn ?? call;
    return {
      session: String(row['session']),
      lastSeenAt: Number(row['at']),
      failedTurns24h: Number(turn?.['failures'] ?? 0),
      ...(call !== undefined && { failedCalls24h: Number(call['failures']) }),
      ...(last !== undefined && { lastError: lastErrorOf(last) }),
    };
  });
  return { sessions, moreSessions: Number(seen[0]?.['seen'] ?? 0) - seen.length };
}

/**
 * Gives what a store says of alerts.
 * @param rows - open ones first, oldest first; then the cleared, the last first.
 * @param failing - by the default thresholds.
 */
export function alertViewOf(rows: readonly Row[], failing: readonly UnwatchedAlert[], now: number): AlertView {
  const open = rows.filter((row) => row['cleared_at'] === null).map(alertIn);
  const cleared = rows
    .filter((row) => row['cleared_at'] !== null)
    .slice(0, 50)
    .map((row) => ({
      ...alertIn(row),
      clearedAt: Number(row['cleared_at']),
      clearedBy: ends.find((end) => end === row['cleared_by']) ?? 'closed',
    }));
  const known = new Set([...open, ...cleared.filter(isRecent(now))].map(({ integration }) => integration));
  const unwatched = failing.filter(({ integration }) => !known.has(integration) && !deliveries.has(integration));
  return { open, unwatched, cleared };
}

/** Reads what fails, by its row, with its last error beside it. */
export function unwatchedIn(
  row: Row,
  { kind, error }: { readonly kind: string | undefined; readonly error: string },
): UnwatchedAlert {
  return {
    integration: String(row['name']),
    because: Number(row['failures']) >= defaultAlertRule.failures ? 'failures' : 'crashes',
    failures: Number(row['failures']),
    crashes: Number(row['crashes']),
    lastFailureAt: Number(row['at']),
    kind,
    message: error,
  };
}

const ends: readonly AlertEnd[] = ['quiet', 'closed', 'recovered'];

/** Deliveries of alerts raise none. */
const deliveries: ReadonlySet<string> = new Set(Object.values(deliveryNames));

/** The failures of the window were told of already. */
function isRecent(now: number) {
  return ({ clearedAt }: ClearedAlert): boolean => now - clearedAt < defaultAlertRule.windowMs;
}
