import { describe, expect, it } from 'vitest';
import { untakenMessages } from '../../src/gateway/untaken.ts';

const waiting = { id: 's', busy: false, heldElsewhere: false, oldestWaitMs: 700.4 };

describe('messages that nobody takes', () => {
  it('[N-6] are those of idle sessions and the oldest mail, the longest wait first', () => {
    const sessions = [{ ...waiting, id: 'idle', oldestWaitMs: 0 }, waiting, { ...waiting, id: 't', oldestWaitMs: 900 }];
    expect(untakenMessages(sessions, { session: 'far', waitMs: 800 })).toEqual([
      { session: 't', waitMs: 900 },
      { session: 'far', waitMs: 800 },
      { session: 's', waitMs: 700 },
    ]);
  });

  it('[N-6] are none behind a turn that works, nor what another process has', () => {
    const sessions = [
      { ...waiting, busy: true },
      { ...waiting, id: 't', heldElsewhere: true },
    ];
    expect(untakenMessages(sessions, undefined)).toEqual([]);
  });

  it('[N-6] of one session are told of once, by the longest wait', () => {
    expect(untakenMessages([waiting], { session: 's', waitMs: 900 })).toEqual([{ session: 's', waitMs: 900 }]);
  });

  it('[N-6] are named for a few of many sessions', () => {
    const sessions = Array.from({ length: 100 }, (_, index) => ({
      ...waiting,
      id: `s-${index}`,
      oldestWaitMs: 1 + index,
    }));
    const untaken = untakenMessages(sessions, undefined);
    expect([untaken.length, untaken[0]?.waitMs]).toEqual([10, 100]);
  });
});
