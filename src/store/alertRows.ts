import type { AlertCause } from '../policy/alertCause.ts';
import type { OpenAlert } from '../policy/alertRecord.ts';
import { type FailureKind, failureKinds } from '../policy/failure.ts';

const causes: readonly AlertCause[] = ['failures', 'crashes', 'rate'];

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
