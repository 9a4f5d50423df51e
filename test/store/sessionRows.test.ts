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

  it('[G-12] keeps the latest turns that fit, also where a call of an older one was answered behind them', () => {
    const messages = [1, 2, 3].map((number) => ({
      ...{ number, key: undefined, mail: undefined, body: '{"kind":"user","text":"x"}' },
      taken: { turn: number, seq: 2 * number, at: number },
    }));
    const late = call('s-1-1', 3, 7);
    const kept = historyOf('s', messages as never, [late], 4).map(({ type, turn }) => `${type} ${turn}`);
    expect(kept).toEqual(['message 2', 'message 3']);
    expect(historyOf('s', messages as never, [late], 5)).toHaveLength(5);
  });
});
