import { describe, expect, it } from 'vitest';
import { type CallRow, historyOf } from '../../src/store/sessionRows.ts';

const call = (name: string, seq: number, settledSeq: number): CallRow =>
  ({
    ...{ session: 's', call: name, turn: 1, integration: 'bank', tool: 'charge', effect: 'mutating', seq },
    ...{ startedAt: 1, deadlineAt: 2, runtime: 'r', input: '{}', late: false },
    settled: { result: '{"status":"ok","value":1,"retries":0}', seq: settledSeq, at: 3 },
  }) as unknown as CallRow;

describe('the history that a session has on record', () => {
  it('[R-16] [G-14] has a result that came after its turn right behind its call, never before it', () => {
    const entries = historyOf('s', [], [call('s-1-1', 4, 0), call('s-1-2', 5, 6)], 100);
    expect(entries.map((entry) => [entry.type, entry.type === 'message' ? '' : entry.call])).toEqual([
      ['tool_call', 's-1-1'],
      ['tool_result', 's-1-1'],
      ['tool_call', 's-1-2'],
      ['tool_result', 's-1-2'],
    ]);
  });
});
