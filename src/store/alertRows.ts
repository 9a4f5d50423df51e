import type { AlertCause, AlertEnd } from '../policy/facts/alertFacts.ts';
import type { OpenAlert } from '../policy/alertRecord.ts';
import { defaultAlertRule, deliveryNames } from '../policy/alerts.ts';
import { type FailureKind, failureKinds } from '../policy/failure.ts';
import type { AlertView, ClearedAlert, UnwatchedAlert } from './storeReader.ts';

const causes: readonly AlertCause[] = ['failures', 'crashes', 'rate', 'circuit'];

/** As a row holds it; a kind that this version does not know is `unknown`. */
export function alertIn(row: Readonly<Record<string, unknown>>): OpenAlert {
  const kind = String(row['kind']);
  return {
    id: String(row['id']),
    integration: String(row['integration']),
    // A file that no newer version has opened has neither of the two.
    because: causes.find((cause) => cause === row['because']) ?? 'failures',
    crashes: Number(row['crashes'] ?? 0),
    kind: Object.hasOwn(failureKinds, kind) ? (kind as FailureKind) : 'unknown',
    message: String(row['message']),
    failures: Number(row['failures']),
    raisedAt: Number(row['raised_at']),
    lastFailureAt: Number(row['last_failure_at']),
  };
}

/**
 * Gives what a store says of alerts.
 * @param rows - open ones first, oldest first; then the cleared, the last first.
 * @param failing - by the default thresholds.
 */
export function alertViewOf(
  rows: readonly Readonly<Record<string, unknown>>[],
  failing: readonly UnwatchedAlert[],
  now: number,
): AlertView {
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
  row: Readonly<Record<string, unknown>>,
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
