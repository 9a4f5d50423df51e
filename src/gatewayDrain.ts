import type { Deadline, DeadlineQueue } from './calls/deadlineQueue.ts';
import type { DrainOrder } from './calls/draining.ts';
import type { Clock } from './policy/clock.ts';
import { checkKeys, checkNumber } from './policy/options.ts';
import type { StopOptions } from './gatewayTypes.ts';

/** @throws TypeError or RangeError that names the option and its value. */
export function checkStop(options: StopOptions | string): { readonly drainMs: number } {
  // What `process.once('SIGTERM', gateway.stop)` is called with; a throw there would end the process with its children left behind.
  if (typeof options === 'string') return { drainMs: 0 };
  checkKeys('options', options, ['drainMs']);
  return { drainMs: checkNumber('options.drainMs', options.drainMs ?? 0) };
}

/** The time in which what is under way may end by itself. */
export interface Drain {
  readonly begun: boolean;
  /** Resolves when nothing is under way any more, or the time is over. Never rejects. */
  begin(ms: number): Promise<void>;
  /** The time is over in so many ms at the latest; it is never made longer. */
  shorten(ms: number): void;
}

export interface DrainParts {
  readonly clock: Pick<Clock, 'now' | 'nextTurn'>;
  readonly deadlines: DeadlineQueue;
  /** Tells all parts what is ordered. */
  readonly tell: (order: DrainOrder) => void;
  /** Whether one of them is busy. */
  readonly isBusy: () => boolean;
}

export function createDrain({ clock, deadlines, tell, isBusy }: DrainParts): Drain {
  let begun = false;
  let looking = false;
  let over = false;
  let finish: () => void = () => undefined;
  const deadline: Deadline = { due: Number.POSITIVE_INFINITY, heapIndex: -1, expire: () => finish() };

  function endBy(until: number): void {
    deadline.due = Math.ceil(until);
    deadlines.set(deadline);
    // As of when it is asked: who hears of a first end may shorten it, before all parts are told.
    const order = {
      get until() {
        return deadline.due;
      },
      ended,
    };
    tell(order);
  }

  /** One end leads to another's begin within a turn: a call to the next of its turn, a run to its next backend. */
  function ended(): void {
    if (looking || over) return;
    looking = true;
    clock.nextTurn(() => {
      looking = false;
      if (!isBusy()) finish();
    });
  }

  return {
    get begun() {
      return begun;
    },
    begin(ms) {
      begun = true;
      return new Promise((resolve) => {
        finish = () => {
          over = true;
          deadlines.remove(deadline);
          resolve();
        };
        endBy(clock.now() + ms);
        ended();
      });
    },
    shorten(ms) {
      const until = clock.now() + ms;
      if (!begun || over || until >= deadline.due) return;
      if (ms === 0) finish();
      else endBy(until);
    },
  };
}
