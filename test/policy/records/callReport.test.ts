import { describe, expect, it } from 'vitest';
import { type CallFiguresRow, noFigures } from '../../../src/policy/records/callFigures.ts';
import { reportOf } from '../../../src/policy/records/callReport.ts';
import { Latencies } from '../../../src/policy/records/latencies.ts';

const hour = 3_600_000;
const span = { from: 0, until: 24 * hour };
const row = (given: Partial<CallFiguresRow>): CallFiguresRow => ({
  integration: 'kb',
  tool: undefined,
  minute: 0,
  ...noFigures,
  ...given,
});
const took = (...times: readonly number[]) => {
  const latencies = new Latencies();
  for (const ms of times) latencies.add(ms);
  return latencies.take();
};

describe('a report', () => {
  it('[O-10] gives success rate, failures by kind and latencies of each integration, over all minutes', () => {
    const rows = [
      row({ succeeded: 95, failed: { timeout: 3 }, refused: 7, retries: 4, took: took(100, 100) }),
      row({
        minute: 60_000,
        succeeded: 1,
        failed: { timeout: 1 },
        fellBack: 1,
        took: took(1000),
        firstChunk: took(50),
      }),
      row({ integration: 'alone', refused: 1 }),
    ];
    const [alone, kb] = reportOf(rows, span);
    expect(kb).toMatchObject({
      integration: 'kb',
      calls: 100,
      successRate: 0.96,
      failures: { timeout: 4 },
      fellBack: 1,
      refused: 7,
      retries: 4,
    });
    expect(kb?.took?.p50Ms).toBeGreaterThan(94);
    expect(kb?.took?.p50Ms).toBeLessThan(106);
    expect(kb?.took?.p99Ms).toBeGreaterThan(900);
    expect(kb?.firstChunk?.p95Ms).toBeGreaterThan(45);
    expect(alone).toMatchObject({ calls: 0, successRate: undefined, refused: 1, took: undefined });
  });

  it('[O-10] leaves calls that their callers cancelled out of the success rate', () => {
    const [kb] = reportOf([row({ succeeded: 1, failed: { cancelled: 9, auth: 1 } })], span);
    expect(kb).toMatchObject({ calls: 11, successRate: 0.5 });
    expect(reportOf([row({ failed: { cancelled: 1 } })], span)[0]?.successRate).toBeUndefined();
  });

  it('[O-10] gives each tool beside the whole, which counts no call twice', () => {
    const [kb] = reportOf(
      [row({ succeeded: 3 }), row({ tool: 'b', succeeded: 1 }), row({ tool: 'a', succeeded: 2 })],
      span,
    );
    expect(kb?.calls).toBe(3);
    expect(kb?.tools.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  it('[O-10] has equal steps, of a minute at least', () => {
    const [kb] = reportOf([row({ minute: 0, succeeded: 2 }), row({ minute: 24 * hour - 60_000, succeeded: 1 })], span);
    expect(kb?.steps).toHaveLength(24);
    expect(kb?.steps[0]).toEqual({ from: 0, calls: 2, successRate: 1 });
    expect(kb?.steps[23]).toMatchObject({ from: 23 * hour, calls: 1 });
    expect(reportOf([row({ succeeded: 1 })], { from: 0, until: 150_000 })[0]?.steps).toHaveLength(3);
  });
});
