import { describe, expect, it } from 'vitest';
import { ContentWatch } from '../../../proxy/api/contentWatch.ts';
import type { EventScanner } from '../../../proxy/api/eventScanner.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const chunk = Buffer.from('data: {}\n\n');
const scanned = (content: number, said = 0): EventScanner => ({ content, said, mayEnd: false }) as EventScanner;

describe('the beginning of a stream', () => {
  it('[E-7] is held back until something is said, and no longer than a client may bear silence once the answer has begun', () => {
    const clock = new SimulatedClock();
    const watch = new ContentWatch(clock);
    watch.begin();
    expect(watch.isEnough(scanned(1), chunk, false)).toBe(false);
    clock.stall(19_999);
    expect(watch.isEnough(scanned(1), chunk, false)).toBe(false);
    expect(watch.isEnough(scanned(1, 1), chunk, false)).toBe(true);
    clock.stall(1);
    expect(watch.isEnough(scanned(0), chunk, false)).toBe(false);
    expect(watch.isEnough(scanned(1), chunk, false)).toBe(true);
    expect(watch.take()).toHaveLength(3);
  });
});
