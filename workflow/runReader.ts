import type { NumberedWorkflowEvent, WorkflowRun } from './workflowTypes.ts';

/** Parts of a run that are watched. */
export type WatchedRun = Pick<WorkflowRun<unknown, unknown>, 'events' | 'progress'>;

/** An event, and the number before which nothing is missing: where it is less than that of the event, the events between are lost. */
export interface ReadEvent {
  readonly event: NumberedWorkflowEvent;
  readonly expected: number;
}

/** Reads the events of a run, one at a time, until the run has ended or the reader leaves. */
export class RunReader {
  readonly #events: AsyncIterator<NumberedWorkflowEvent, undefined>;
  #known: number;
  #left = false;
  #wake: (() => void) | undefined;

  /** @param after - number of the last event that is known. */
  constructor(run: WatchedRun, after = 0) {
    this.#events = run.events(after);
    this.#known = after;
  }

  /** The next event; undefined when there is none to come. Never rejects. */
  next(): Promise<ReadEvent | undefined> {
    if (this.#left) return Promise.resolve(undefined);
    // A promise of its own for each wait: what is raced against one that lasts as long as the reader is kept by it.
    return new Promise((resolve) => {
      this.#wake = () => resolve(undefined);
      this.#read().then(resolve, () => resolve(undefined));
    });
  }

  async #read(): Promise<ReadEvent | undefined> {
    const { done, value } = await this.#events.next();
    if (done === true) return undefined;
    const expected = this.#known + 1;
    this.#known = value.number;
    return { event: value, expected };
  }

  /** Stops reading; a reader that waits for an event waits no longer. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#wake?.();
    // An iterator that is asked to end while it waits may answer only at its next event.
    void this.#return().catch(() => undefined);
  }

  async #return(): Promise<void> {
    await this.#events.return?.();
  }
}
