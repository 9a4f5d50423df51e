import { describe, expect, it } from 'vitest';
import { untakenMessages } from '../../src/gateway/untaken.ts';

const waiting = { busy: false, heldElsewhere: false, oldestWaitMs: 700.4 };
type Sessions = Record<string, Partial<typeof waiting>>;

/** What is untaken of these sessions and mails. */
function untaken(sessions: Sessions, mails: Record<string, number> = {}, unadopted: readonly string[] = []) {
  const here = Object.entries(sessions).map(([id, each]) => [id, { ...waiting, ...each }] as const);
  const oldest = Object.entries(mails).map(([session, waitMs]) => ({ session, waitMs }));
  return untakenMessages(new Map(here), oldest, new Set(unadopted));
}

describe('messages that nobody takes', () => {
  it('[N-6] are those of idle sessions and the mail, the longest wait first', () => {
    const sessions = { idle: { oldestWaitMs: 0 }, s: {}, t: { oldestWaitMs: 900 } };
    expect(untaken(sessions, { idle: 800 })).toEqual([
      { session: 't', waitMs: 900, here: true },
      { session: 'idle', waitMs: 800, here: true },
      { session: 's', waitMs: 700, here: true },
    ]);
  });

  it('[N-6] are none behind a turn that works, nor what another process has', () => {
    expect(untaken({ s: { busy: true }, t: { heldElsewhere: true } })).toEqual([]);
  });

  it('[N-6] of one session are told of once, by the longest wait', () => {
    expect(untaken({ s: {} }, { s: 900 })).toEqual([{ session: 's', waitMs: 900, here: true }]);
  });

  it('[N-6] of sessions that this gateway does not have come last, as it cannot take them', () => {
    expect(untaken({ s: {} }, { far: 9_000, s: 100, broken: 800 }, ['broken'])).toEqual([
      { session: 'broken', waitMs: 800, here: true },
      { session: 's', waitMs: 700, here: true },
      { session: 'far', waitMs: 9_000, here: false },
    ]);
  });

  it('[N-6] are named for a few of many sessions, those of this gateway among them', () => {
    const of = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, 1 + index] as const);
    const sessions = Object.fromEntries(of('s', 6).map(([id, oldestWaitMs]) => [id, { oldestWaitMs }]));
    const named = untaken(sessions, Object.fromEntries(of('far', 100)));
    expect(named.map(({ session }) => session)).toEqual([
      ...['s-5', 's-4', 's-3', 's-2', 's-1', 's-0'],
      ...['far-99', 'far-98', 'far-97', 'far-96'],
    ]);
  });
});
