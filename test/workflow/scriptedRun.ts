import type { WatchedRun } from '../../workflow/runReader.ts';
import type { NumberedWorkflowEvent, WorkflowEvent, WorkflowProgress } from '../../workflow/workflowTypes.ts';

const kept = 1_000;

/** A run whose events the test makes up; it keeps the last 1,000. */
export class ScriptedRun implements WatchedRun {
  progress: WorkflowProgress = { backend: 'primary', phase: 'working', ended: 0, total: 3, running: [] };
  /** Readers that have not stopped. */
  readers = 0;
  readonly #events: NumberedWorkflowEvent[] = [];
  readonly #wakes = new Set<() => void>();

  tell(event: WorkflowEvent): void {
    const number = (this.#events.at(-1)?.number ?? 0) + 1;
    this.#events.push({ ...event, number });
    if (this.#events.length > kept) this.#events.shift();
    this.wake();
  }

  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** One item is done. */
  item(id: string, more: Partial<Extract<WorkflowEvent, { type: 'workflow_item' }>['data']> = {}): void {
    const ended = this.progress.ended + 1;
    this.progress = { ...this.progress, ended };
    const data = { backend: 'primary', id, action: `do ${id}`, status: 'done' as const, attempt: 1, maxAttempts: 3 };
    this.tell({ type: 'workflow_item', data: { ...data, ended, total: 3, ...more } });
  }

  end(message = 'All 3 items are done'): void {
    this.progress = { ...this.progress, phase: 'ended', running: [] };
    const data = { status: 'succeeded' as const, message, backend: 'primary', done: 3, failed: 0, skipped: 0 };
    this.tell({ type: 'workflow_ended', data });
  }

  events(after = 0): AsyncIterableIterator<NumberedWorkflowEvent> {
    this.readers++;
    let known = after;
    let left = false;
    const leave = (): void => {
      if (!left) this.readers--;
      left = true;
    };
    const next = async (): Promise<IteratorResult<NumberedWorkflowEvent, undefined>> => {
      for (;;) {
        const found = left ? undefined : this.#events.find(({ number }) => number > known);
        if (found !== undefined) {
          known = found.number;
          return { done: false, value: found };
        }
        if (this.progress.phase === 'ended') leave();
        if (left) return { done: true, value: undefined };
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            this.#wakes.delete(wake);
            resolve();
          };
          this.#wakes.add(wake);
        });
      }
    };
    return {
      next,
      return() {
        leave();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
