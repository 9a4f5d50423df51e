import type { Clock, Timer } from '../../src/policy/face.ts';

interface UnreadInputOptions {
  readonly clock: Clock;
  /** Time that the server may leave unread what is written to it, in ms. */
  readonly limitMs: number;
  /** Asks the server for a sign of life, and ends it if there is none. Never rejects. */
  readonly suspect: () => Promise<unknown>;
}

/**
 * Has a server suspected that does not read, though no call waits for it: behind it nothing more is taken from the client, not even that it
 * has ended.
 */
export function watchUnreadInput({ clock, limitMs, suspect }: UnreadInputOptions) {
  let timer: Timer | undefined;
  let stands = false;

  const watch = (): void => {
    const suspected = (): void => {
      void suspect().then(() => {
        if (stands) watch();
      });
    };
    timer = clock.setTimeout(suspected, limitMs, { running: true });
  };
  return {
    /** The server takes no more for now. */
    begin(): void {
      if (stands) return;
      stands = true;
      watch();
    },
    /** It does again, or is gone. */
    end(): void {
      stands = false;
      clock.clearTimeout(timer);
    },
  };
}
