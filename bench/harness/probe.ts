import type { Meter } from './meter.ts';
import { quantile } from './statistics.ts';

/** How a metric is counted. */
export type Unit = 'µs' | 'ms' | 'B' | 'kB' | '%' | '/s' | '';

/** What one run of a case said. */
export interface Reading {
  readonly metric: string;
  readonly unit: Unit;
  readonly value: number;
}

/** What a case measures with; every figure it records is kept for this round. */
export interface Probe {
  /** Records a figure the case found itself. */
  record(metric: string, value: number, unit: Unit): void;
  /** Runs `work` once and records `<metric> cpu` and `<metric> wall`, in µs for each of `count` things done. Collects garbage first. */
  time<T>(metric: string, count: number, work: () => T | Promise<T>): Promise<T>;
  /** Records `<metric> p50` and `<metric> p99` of latencies in µs. */
  latencies(metric: string, samplesUs: readonly number[]): void;
  /** Records the bytes that what `make` returns holds, for each of `count` things in it. */
  heap<T>(metric: string, count: number, make: () => T | Promise<T>): Promise<T>;
  /**
   * Runs `work` once and records the bytes it allocates, for each of `count` things done. Only in a case of its own process that is
   * started with {@link roomForAll}.
   */
  allocated(metric: string, count: number, work: () => void | Promise<void>): Promise<void>;
}

/** Node's flags for a young generation that holds all that a case allocates, so that nothing is collected meanwhile. */
export const roomForAll: readonly string[] = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

/** A probe and what it has read. */
export function createProbe(meter: Meter): { readonly probe: Probe; readonly readings: readonly Reading[] } {
  const readings: Reading[] = [];
  const record = (metric: string, value: number, unit: Unit): void => {
    readings.push({ metric, unit, value });
  };
  const probe: Probe = {
    record,
    async time(metric, count, work) {
      meter.collect();
      const cpu = meter.cpuUs();
      const wall = meter.wallUs();
      const result = await work();
      record(`${metric} wall`, (meter.wallUs() - wall) / count, 'µs');
      record(`${metric} cpu`, (meter.cpuUs() - cpu) / count, 'µs');
      return result;
    },
    latencies(metric, samplesUs) {
      record(`${metric} p50`, quantile(samplesUs, 0.5), 'µs');
      record(`${metric} p99`, quantile(samplesUs, 0.99), 'µs');
    },
    async heap(metric, count, make) {
      const before = meter.heapBytes();
      const made = await make();
      record(metric, (meter.heapBytes() - before) / count, 'B');
      return made;
    },
    async allocated(metric, count, work) {
      meter.collect();
      const before = meter.usedBytes();
      await work();
      record(metric, (meter.usedBytes() - before) / count, 'B');
    },
  };
  return { probe, readings };
}
