import { checkInteger } from '../src/policy/options/face.ts';
import type { NumberedWorkflowEvent, WorkflowEvent } from './workflowTypes.ts';

/** The events of one run, kept and read by any number of readers. */
export interface WorkflowEventLog {
  push(event: WorkflowEvent): void;
  /** Nothing comes any more; what is kept can still be read. */
  end(): void;
  /** @throws TypeError or RangeError when `after` is no integer of at least 0. */
  events(after?: number): AsyncIterableIterator<NumberedWorkflowEvent, undefined, void>;
}

/** Events that are kept; of more the first are given up. */
const mostKept = 1000;

type Take = (result: IteratorResult<NumberedWorkflowEvent, undefined>) => void;

/**
 * A reader keeps only its place: a slow reader, or one that never comes back, costs nothing.
 * @param redact - takes secrets out of what is kept; must not throw. @defaultValue nothing
 */
export function createEventLog(redact: (event: WorkflowEvent) => WorkflowEvent = (event) => event): WorkflowEventLog {
  const kept: NumberedWorkflowEvent[] = [];
  // Only those that wait for what comes.
  const waiting = new Set<() => void>();
  let last = 0;
  let ended = false;

  const wake = (): void => {
    for (const serve of [...waiting]) serve();
  };

  const nextAfter = (number: number): NumberedWorkflowEvent | undefined => {
    const first = last - kept.length + 1;
    return kept[Math.max(0, number + 1 - first)];
  };

  return {
    push(event) {
      if (ended) return;
      kept.push({ ...redact(event), number: ++last });
      if (kept.length > mostKept) kept.shift();
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    events(after = 0) {
      // A number that is none yet is that of another run.
      let known = checkInteger('after', after, 0) > last ? 0 : after;
      let left = false;
      const takers: Take[] = [];
      const serve = (): void => {
        while (takers.length > 0) {
          const event = left ? undefined : nextAfter(known);
          if (event === undefined && !ended && !left) break;
          if (event !== undefined) known = event.number;
          takers.shift()?.(event === undefined ? { done: true, value: undefined } : { done: false, value: event });
        }
        if (takers.length > 0) waiting.add(serve);
        else waiting.delete(serve);
      };
      return {
        next: () =>
          new Promise((resolve) => {
            takers.push(resolve);
            serve();
          }),
        return() {
          left = true;
          serve();
          return Promise.resolve({ done: true, value: undefined });
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}
