import { circuitOf, stackOf } from '../src/calls/face.ts';
import type { MachineLink } from '../src/calls/circuit/face.ts';
import type { Facts, WorkflowBackendFact, WorkflowFact } from '../src/policy/facts/face.ts';
import type { Failure, FailureFacts } from '../src/policy/failures/face.ts';
import type { ItemTable } from './itemTable.ts';
import type { WorkflowFallback, WorkflowItem } from './workflowTypes.ts';

/** Failed attempt of an item, as it is told. */
interface ItemError {
  readonly item: WorkflowItem;
  readonly facts: FailureFacts;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly final: boolean;
}

/** End of the turn of a backend. */
interface TurnEnd {
  readonly link: MachineLink;
  /** True where its failure opened the circuit. */
  readonly tripped: boolean;
  readonly table: Pick<ItemTable<unknown>, 'done' | 'failed' | 'skipped'> | undefined;
  readonly elapsedMs: number;
}

/** Records of one run for the outside. */
export type RunRecords = ReturnType<typeof createRunRecords>;

/** @param now - monotonic time in ms. */
export function createRunRecords(facts: Facts, run: WorkflowFact, now: () => number) {
  const about = (backend: string): WorkflowBackendFact => ({ ...run, backend });
  const circuitOpen = (backend: string, fallback: string | undefined, retryAfterMs: number | undefined): void =>
    facts.tell({ type: `workflow.${backend}.circuit_breaker_open`, ...about(backend), fallback, retryAfterMs });
  return {
    began: (backend: string) => facts.tell({ type: `workflow.${backend}.started`, ...about(backend) }),
    /** @param mode - what the plan says of how it is meant. */
    planned(backend: string, items: readonly WorkflowItem[], mode: string | undefined): void {
      const type = `workflow.${backend}.planned` as const;
      if (!facts.wants(type)) return;
      facts.tell({ type, ...about(backend), items: items.map(plannedItem), ...(mode !== undefined && { mode }) });
    },
    itemFailed(backend: string, { item, facts: failed, attempt, maxAttempts, final }: ItemError): void {
      facts.tell({
        type: `workflow.${backend}.item_error`,
        ...about(backend),
        item: item.id,
        action: item.action,
        attempt,
        maxAttempts,
        final,
        kind: failed.kind,
        error: failed.message,
        stack: stackOf(failed.cause),
        tools: item.tools ?? [],
        servers: item.servers ?? [],
        dependencies: item.dependencies ?? [],
      });
    },
    completed(backend: string, { table, elapsedMs }: TurnEnd): void {
      const { done = 0, failed = 0, skipped = 0 } = table ?? {};
      const status = failed + skipped === 0 ? 'succeeded' : 'partial';
      facts.tell({
        type: `workflow.${backend}.completed`,
        ...about(backend),
        status,
        done,
        failed,
        skipped,
        elapsedMs,
      });
    },
    /** @param fallback - the backend that takes over. */
    failed(
      backend: string,
      { kind, message, retryAfterMs, cause }: Failure,
      fallback: string | undefined,
      { link, tripped, elapsedMs }: TurnEnd,
    ): void {
      if (kind === 'circuit_open') {
        circuitOpen(backend, fallback, retryAfterMs);
        return;
      }
      facts.tell({
        type: `workflow.${backend}.failed`,
        ...about(backend),
        kind,
        error: message,
        stack: stackOf(cause),
        fallback,
        breaker: circuitOf(link),
        elapsedMs,
      });
      if (tripped) circuitOpen(backend, fallback, Math.max(0, Math.ceil(link.openUntil - now())));
    },
    fellBack: (fallback: WorkflowFallback) => facts.tell({ type: 'workflow_fallback', ...run, ...fallback }),
  };
}

/** An item of a plan as it is told. */
export function plannedItem({ id, action, dependencies = [] }: WorkflowItem): {
  readonly id: string;
  readonly action: string;
  readonly dependencies: readonly string[];
} {
  return { id, action, dependencies };
}
