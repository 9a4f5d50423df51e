import { describe, expect, it } from 'vitest';
import { Call, CallsInFlight } from '../../src/calls/call.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { seededRandom } from '../../testing/random.ts';

const policy = resolvePolicy('kb', {});
const watcher = { firstChunkCame() {}, callExpired() {}, callAborted() {}, now: () => 0 };
const settings = {
  ...policy.limits,
  retry: policy.retry,
  effect: undefined,
  label: undefined,
  session: undefined,
  signal: undefined,
  fallback: undefined,
};
const row = (number: number) => new Call<string, string>(watcher, number, 'ask', settings, 0, () => undefined);

describe('the table of calls in flight', () => {
  it('agrees with a set over random additions and removals', () => {
    const random = seededRandom(7);
    const table = new CallsInFlight<string, string>(watcher, policy, 0);
    const expected = new Set<Call<string, string>>();
    const rows = Array.from({ length: 20 }, (_, number) => row(number));
    for (let step = 0; step < 2000; step++) {
      const call = rows[Math.floor(random() * rows.length)];
      if (call === undefined) continue;
      if (expected.has(call) || random() < 0.3) {
        table.delete(call);
        expected.delete(call);
      } else {
        table.add(call);
        expected.add(call);
      }
      expect(table.size).toBe(expected.size);
      expect(table.list().map(({ number }) => number)).toEqual([...expected].map(({ number }) => number));
    }
  });
});
