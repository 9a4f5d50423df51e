import { describe, expect, it } from 'vitest';
import { diedFacts, nameOfRun } from '../../src/runtime/diedRuns.ts';

const startedAt = Date.UTC(2026, 0, 1);
const row = {
  ...{ id: 'one', pid: 4711, processStart: '', socket: undefined, name: nameOfRun('nightly report') },
  ...{ startedAt, renewedAt: startedAt + 61_200 },
};

describe('the final record of a run that died', () => {
  it('[I-4] names its integration, its process, and when it was last seen', () => {
    expect(diedFacts(row)).toMatchObject([
      {
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
      },
    ]);
  });

  it('[I-4] is none of a gateway or a proxy', () => {
    expect(['gateway.mjs', 'unwedge mcp run', 'unwedge api x'].flatMap((name) => diedFacts({ ...row, name }))).toEqual(
      [],
    );
  });

  it.each([
    ['mutating', false],
    ['readOnly', true],
    [undefined, false],
  ] as const)('[I-4] [P-3] is one of each call that a proxy had on record, here a %s one', (effect, retryable) => {
    const call = { integration: 'shop', call: 'shop-7', tool: 'pay', effect, startedAt: startedAt + 60_000 };
    expect(diedFacts({ ...row, name: 'unwedge mcp shop', calls: [call] })).toMatchObject([
      {
        ...{ type: 'call.failed', integration: 'shop', call: 'shop-7', tool: 'pay', elapsedMs: 1200 },
        failure: {
          ...{ kind: 'crash', outcome: 'unknown', retryable },
          message: expect.stringMatching(/^unwedge mcp shop \(pid 4711\) ended without a word while pay was/) as string,
        },
      },
    ]);
  });
});
