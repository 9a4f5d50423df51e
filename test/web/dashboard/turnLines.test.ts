import { describe, expect, it } from 'vitest';
import { turnLines } from '../../../web/dashboard/turnLines.ts';
import type { EventRow } from '../../../src/store/events.ts';
import type { TurnRecord } from '../../../reader/storeReader.ts';

const event = (id: number, type: string, metadata: Record<string, unknown>): EventRow => ({
  ...{ id, at: id * 100, category: 'session', type, metadata: { session: 's', ...metadata } },
});

const kept: TurnRecord = {
  ...{
    turn: 2,
    message: 's-m2',
    kind: 'user',
    state: 'failed',
    deliveries: 1,
    postedAt: 100,
    takenAt: 110,
    endedAt: 190,
  },
  calls: [{ call: 's-2-1', integration: 'kb', tool: 'find', startedAt: 120, settledAt: 150, ok: false, attempts: 2 }],
};

const toolFailed = { turn: 2, call: 's-2-1', tool: 'find', integration: 'kb', kind: 'timeout', retries: 1 };

describe('the turns of a session', () => {
  it('[O-13] are those that are kept, with what the events say of their calls that failed', () => {
    const events = [event(1, 'tool_failed', { ...toolFailed, error: 'silent' })];
    const [turn] = turnLines([kept], events, 10);
    expect(turn?.calls).toEqual([{ ...kept.calls[0], failure: { kind: 'timeout', message: 'silent' } }]);
  });

  it('[O-13] are of a session that is not kept what was told of it: of a call its failure, and no beginning', () => {
    const events = [
      event(1, 'turn_started', { turn: 1, message: 's-m1', kind: 'user' }),
      event(2, 'tool_failed', { ...toolFailed, turn: 1, error: 'silent', synthetic: true }),
      event(3, 'watchdog_fired', { turn: 1, rule: 'turn', limit_ms: 5 }),
      event(4, 'turn_ended', { turn: 1, ok: false, error: 'cut' }),
      event(5, 'turn_started', { turn: 2, message: 's-m2', kind: 'user' }),
    ];
    expect(turnLines([], events, 10)).toEqual([
      { turn: 2, message: 's-m2', kind: 'user', state: 'taken', takenAt: 500, calls: [] },
      {
        ...{ turn: 1, message: 's-m1', kind: 'user', state: 'failed', takenAt: 100, endedAt: 400, error: 'cut' },
        watchdog: 'the turn',
        calls: [
          {
            ...{
              call: 's-2-1',
              integration: 'kb',
              tool: 'find',
              settledAt: 200,
              ok: false,
              synthetic: true,
              attempts: 2,
            },
            failure: { kind: 'timeout', message: 'silent' },
          },
        ],
      },
    ]);
  });

  it('[O-13] are so many, the newest first, and none of an event without a turn', () => {
    const events = [1, 2, 3].map((turn) => event(turn, 'turn_started', { turn, message: 'm', kind: 'user' }));
    const lines = turnLines([], [...events, event(4, 'started', {}), event(5, 'turn_ended', { turn: 9 })], 2);
    expect(lines.map(({ turn }) => turn)).toEqual([3, 2]);
  });
});
