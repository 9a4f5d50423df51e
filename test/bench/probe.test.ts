import { describe, expect, it } from 'vitest';
import { createProbe } from '../../bench/harness/probe.ts';
import { fakeMeter } from './fakes.ts';

describe('the probe of a case', () => {
  it('counts CPU and wall time for each thing done, once garbage is collected', async () => {
    const meter = fakeMeter();
    const { probe, readings } = createProbe(meter);
    const result = await probe.time('start', 4, async () => {
      expect(meter.collected()).toBe(1);
      meter.spend(100, 60);
      return 'done';
    });
    expect(result).toBe('done');
    expect(readings).toEqual([
      { metric: 'start wall', unit: 'µs', value: 15 },
      { metric: 'start cpu', unit: 'µs', value: 25 },
    ]);
  });

  it('counts the bytes that what was made still holds', async () => {
    const meter = fakeMeter();
    meter.hold(1000);
    const { probe, readings } = createProbe(meter);
    await probe.heap('heap', 10, () => meter.hold(350));
    expect(readings).toEqual([{ metric: 'heap', unit: 'B', value: 35 }]);
  });

  it('counts the bytes that were allocated meanwhile, whether or not they are held', async () => {
    const meter = fakeMeter();
    const { probe, readings } = createProbe(meter);
    meter.hold(1000);
    await probe.allocated('allocated', 10, () => meter.hold(350));
    expect(readings).toEqual([{ metric: 'allocated', unit: 'B', value: 35 }]);
    expect(meter.collected()).toBe(1);
  });

  it('gives the middle and the 99th percentile of latencies', () => {
    const { probe, readings } = createProbe(fakeMeter());
    probe.latencies('answer', [...Array(101).keys()].toReversed());
    expect(readings.map(({ metric, value }) => [metric, value])).toEqual([
      ['answer p50', 50],
      ['answer p99', 99],
    ]);
  });
});
