import type { Clock, Timer } from '../../src/policy/face.ts';

interface IdlePauseOptions {
  readonly clock: Clock;
  /** In ms. */
  readonly everyMs: number;
  /** Tells whether the client has to act before the server can. */
  readonly isOwed: () => boolean;
  readonly touch: () => void;
}

/** Keeps calls from being taken for silent while the server waits for the client. */
export function createIdlePause({ clock, everyMs, isOwed, touch }: IdlePauseOptions) {
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
    /** Something may have changed. */
    check,
    stop(): void {
      stopped = true;
      clock.clearTimeout(timer);
    },
  };
}
