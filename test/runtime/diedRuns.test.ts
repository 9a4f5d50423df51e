import { describe, expect, it } from 'vitest';
import { diedFact, nameOfRun } from '../../src/runtime/diedRuns.ts';

const startedAt = Date.UTC(2026, 0, 1);
const row = {
  ...{ id: 'one', pid: 4711, processStart: '', socket: undefined, name: nameOfRun('nightly report') },
  ...{ startedAt, renewedAt: startedAt + 61_200 },
};

describe('the final record of a run that died', () => {
  it('[I-4] names its integration, its process, and when it was last seen', () => {
    expect(diedFact(row)).toMatchObject({
      type: 'call.failed',
      integration: 'nightly report',
      elapsedMs: 61_200,
      failure: {
        kind: 'crash',
        outcome: 'unknown',
        message:
          'unwedge run (pid 4711) ended without a word: it was killed, or its machine went down; ' +
          'started at 2026-01-01T00:00:00.000Z, last seen 1m2s later',
      },
    });
  });

  it('[I-4] is none of a gateway or a proxy', () => {
    expect(['gateway.mjs', 'unwedge mcp run', 'unwedge api x'].map((name) => diedFact({ ...row, name }))).toEqual(
      Array.from({ length: 3 }),
    );
  });
});
