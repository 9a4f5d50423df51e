import type { PersistedBreaker } from '../policy/persistedBreaker.ts';
import type { Row } from './dialect.ts';
import type { FailureFigures, IntegrationStatus, RuntimeFailures, SessionStatus, StoreStatus } from './storeReader.ts';

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
