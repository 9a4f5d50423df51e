import { describe, expect, it } from 'vitest';
import { withLastSigns } from '../../operator/unlisted.ts';
import type { EventRow } from '../../src/store/events.ts';

const run = { id: 'r', pid: 7, processStart: '', startedAt: 1000, renewedAt: 61_000, name: 'gw', socket: undefined };
const event = (at: number, pid: number): EventRow => ({
  ...{ id: at, at, category: 'integration', type: 'failure' },
  metadata: { runtime_pid: pid },
});

async function lastSignAt(events: readonly EventRow[], more: object = {}): Promise<number | undefined> {
  const reader = { events: (): Promise<readonly EventRow[]> => Promise.resolve(events) };
  return (await withLastSigns([{ ...run, ...more }], reader))[0]?.lastSignAt;
}

describe('the last sign of life of a runtime', () => {
  it('[L-5] is the last event that it recorded after its renewal', async () => {
    expect(await lastSignAt([event(62_000, 7), event(90_000, 7), event(95_000, 8)])).toBe(90_000);
  });

  it('[L-5] is its renewal where it recorded nothing after that', async () => {
    expect(await lastSignAt([event(60_000, 7), event(95_000, 8)])).toBeUndefined();
  });

  it('[L-5] is no event of an earlier process of its pid', async () => {
    expect(await lastSignAt([event(900, 7)], { renewedAt: 800 })).toBeUndefined();
  });
});
