/** Watcher that wants to know that a signal was aborted. */
export interface AbortWatcher {
  /** Called once, with the signal's reason. Must not throw. */
  aborted(reason: unknown): void;
}

interface Fanout {
  readonly watchers: Set<AbortWatcher>;
  readonly listener: () => void;
}

/**
 * Listener of a signal, one however many calls share it: adding a listener to an `AbortSignal` is linear in those it has, so that 20,000 calls under one
 * signal would block the event loop for seconds.
 */
export class SignalFanout {
  readonly #fanouts = new WeakMap<AbortSignal, Fanout>();

  watch(signal: AbortSignal, watcher: AbortWatcher): void {
    let fanout = this.#fanouts.get(signal);
    if (fanout === undefined) {
      const watchers = new Set<AbortWatcher>();
      const listener = (): void => {
        this.#fanouts.delete(signal);
        const waiting = [...watchers];
        watchers.clear();
        for (const each of waiting) each.aborted(signal.reason);
      };
      fanout = { watchers, listener };
      this.#fanouts.set(signal, fanout);
      signal.addEventListener('abort', listener, { once: true });
    }
    fanout.watchers.add(watcher);
  }

  unwatch(signal: AbortSignal, watcher: AbortWatcher): void {
    const fanout = this.#fanouts.get(signal);
    if (fanout === undefined || !fanout.watchers.delete(watcher) || fanout.watchers.size > 0) return;
    this.#fanouts.delete(signal);
    signal.removeEventListener('abort', fanout.listener);
  }
}
