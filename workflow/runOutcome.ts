import { type Failure, IntegrationError } from '../src/policy/failure.ts';
import type { ItemTable } from './itemTable.ts';
import type { WorkflowOutcome } from './workflowTypes.ts';

type Status = WorkflowOutcome<unknown, unknown>['status'];
type Counts = Pick<ItemTable<unknown>, 'done' | 'failed' | 'skipped' | 'items'>;

/** The one failure of a run that no backend ended: of several backends it holds all of theirs. */
export function failureOfAll(workflow: string, failures: readonly Failure[]): Failure | undefined {
  const last = failures.at(-1);
  if (last === undefined || failures.length === 1) return last;
  const causes = failures.map((failure) => new IntegrationError(failure));
  const told = failures.map(({ integration, message }) => `${integration}: ${message}`).join('; ');
  return {
    ...last,
    message: `No backend of ${workflow} could end its run: ${told}`,
    integration: `workflow:${workflow}`,
    attempts: failures.reduce((sum, { attempts }) => sum + attempts, 0),
    outcome: failures.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : last.outcome,
    retryable: failures.some(({ retryable }) => retryable),
    cause: new AggregateError(causes, `${failures.length} backends failed`),
  };
}

/** Says in one sentence for people how a run ended. */
export function endText(
  status: Status,
  backend: string,
  table: Counts | undefined,
  failure: Failure | undefined,
): string {
  const { done = 0, failed = 0, skipped = 0 } = table ?? {};
  const total = table?.items.length ?? 0;
  switch (status) {
    case 'succeeded':
      return `${done} of ${itemsText(total)} done by ${backend}`;
    case 'partial':
      return `${done} of ${itemsText(total)} done by ${backend}, ${failed} failed, ${skipped} skipped`;
    case 'failed':
    case 'cancelled': {
      const word = status === 'failed' ? 'Failed' : 'Cancelled';
      const why = (failure?.message ?? 'it is not known why').replace(/^Cancelled: /, '');
      return `${word} with ${done} of ${itemsText(total)} done: ${why}`;
    }
  }
}

const itemsText = (count: number): string => (count === 1 ? '1 item' : `${count} items`);
