import { AttemptError, type Failure, type FailureFacts, IntegrationError } from '../src/policy/failures/face.ts';
import type { ItemTable } from './itemTable.ts';
import type { WorkflowItem } from './workflowTypes.ts';

/** Failed items whose errors are kept with the failure of all. */
const mostErrors = 20;

/** Gives what the call of an item ends with that goes on when its backend's run is over. */
export function endedWith(backend: string, inFlight: boolean): FailureFacts {
  return {
    kind: 'cancelled',
    message: `Ended with the run of ${backend}`,
    outcome: inFlight ? 'unknown' : 'not_started',
  };
}

/** The failure of an item as that of the backend's run. */
export function criticalError(failure: Failure, { id }: WorkflowItem): AttemptError {
  const { kind, reason, message, retryAfterMs, status, code, cause = new IntegrationError(failure) } = failure;
  const told = `${id} failed, which ends the run: ${message}`;
  return new AttemptError({ kind, reason, message: told, outcome: 'failed', retryAfterMs, status, code, cause });
}

/** The failure of the backend's run when none of its items was done. */
export function nothingDone(backend: string, table: ItemTable<unknown>): AttemptError {
  const failures = table.results().flatMap((result) => (result.status === 'failed' ? [result] : []));
  const [first] = failures;
  const errors = failures.slice(0, mostErrors).map(({ failure }) => new IntegrationError(failure));
  return new AttemptError({
    kind: first?.failure.kind ?? 'unknown',
    message: `None of ${table.items.length} items was done by ${backend}; ${first?.id ?? ''}: ${first?.failure.message ?? ''}`,
    outcome: 'failed',
    cause: new AggregateError(errors, `${failures.length} items failed`),
  });
}
