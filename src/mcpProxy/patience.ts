import type { Clock, Timer } from '../policy/clock.ts';

export interface PatienceOptions {
  readonly clock: Clock;
  /** In ms. */
  readonly everyMs: number;
  /** Whether somebody else has to act before the server can. */
  readonly isOwed: () => boolean;
  /** Shows a sign of life for every call in flight. */
  readonly touch: () => void;
}

/** Keeps calls from being taken for silent while it is not the server who is. */
export interface Patience {
  /** Something may have changed. */
  check(): void;
  stop(): void;
}

export function createPatience({ clock, everyMs, isOwed, touch }: PatienceOptions): Patience {
  let timer: Timer | undefined;
  let stopped = false;

  const check = (): void => {
    if (timer !== undefined || stopped || !isOwed()) return;
    touch();
    timer = clock.setTimeout(() => {
      timer = undefined;
      // Also when it is over: the time until now was not the server's.
      touch();
      check();
    }, everyMs);
  };
  return {
    check,
    stop() {
      stopped = true;
      clock.clearTimeout(timer);
    },
  };
}
