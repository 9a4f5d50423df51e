import { CallCounter } from '../calls/recorder/callCounter.ts';
import type { CallFiguresRow } from '../policy/records/callFigures.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { Store } from '../store/store.ts';

/** Interval at which figures are handed to the store, in ms, while there are any. */
const keepEveryMs = 10_000;
const minuteMs = 60_000;

/** Ends of the calls of a runtime, counted by integration and tool and kept in its store by the minute. Keeps no process alive. */
export class CallStatistics {
  readonly #clock: Clock;
  readonly #store: () => Store | undefined;
  readonly #shown: (name: string) => string;
  readonly #counters = new Map<string, CallCounter>();
  readonly #listeners = new Set<(rows: readonly CallFiguresRow[]) => void>();
  /** Integrations that are gone, with figures that are not in the store yet. */
  readonly #left = new Set<string>();
  #timer: Timer | undefined = undefined;
  /** The minute that is being counted: its beginning, in wall time. */
  #minute = 0;

  /** @param shown - a name as it may be kept. @defaultValue as it is */
  constructor(clock: Clock, store: () => Store | undefined, shown: (name: string) => string = (name) => name) {
    this.#clock = clock;
    this.#store = store;
    this.#shown = shown;
  }

  /** Integrations that are counted. */
  get size(): number {
    return this.#counters.size;
  }

  /** The counter of an integration. One of the same name goes on with it. */
  of(integration: string): CallCounter {
    const counter = this.#counters.get(integration) ?? new CallCounter(this);
    this.#counters.set(integration, counter);
    this.#left.delete(integration);
    return counter;
  }

  /** An integration is gone: what was counted of it is kept with the rest, and then it is forgotten. */
  left(integration: string): void {
    this.#left.add(integration);
    if (this.#timer === undefined) this.#forget();
  }

  counted(): void {
    if (this.#timer !== undefined) return;
    this.#minute = Math.floor(this.#clock.wallNow() / minuteMs) * minuteMs;
    this.#timer = this.#clock.setTimeout(() => this.keep(), keepEveryMs, { ref: false });
  }

  /** Hears what was counted, within 10 s. Must not throw. @returns how to hear no more. */
  onKept(hear: (rows: readonly CallFiguresRow[]) => void): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  /** Hands what was counted to the store and to those who listen. Without either it is gone. */
  keep(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const minute = this.#minute;
    const rows: CallFiguresRow[] = [];
    for (const [integration, counter] of this.#counters)
      for (const figures of counter.take()) rows.push({ integration, minute, ...figures });
    this.#store()?.statistics.add(
      rows.map((row) => ({
        ...row,
        integration: this.#shown(row.integration),
        tool: row.tool === undefined ? undefined : this.#shown(row.tool),
      })),
    );
    this.#forget();
    for (const hear of this.#listeners) hear(rows);
  }

  #forget(): void {
    for (const integration of this.#left) this.#counters.delete(integration);
    this.#left.clear();
  }
}
