import { describe, expect, it } from 'vitest';
import type { OpenAlert } from '../../src/policy/records/alertRecord.ts';
import type { WatchedAlert } from '../../src/control/answers.ts';
import { standingOf, standingOfUnwatched } from '../../cli/alertStanding.ts';

const minute = 60_000;
const now = Date.UTC(2026, 0, 1, 1);
const alert: OpenAlert = {
  id: 'one',
  integration: 'kb',
  because: 'failures',
  kind: 'timeout',
  message: 'no answer',
  failures: 7,
  crashes: 0,
  raisedAt: now - 5 * minute,
  lastFailureAt: now - 3 * minute,
};
const record = { gateway: 'gateway.mjs', pid: 4711, host: 'web-1', quietMs: 4 * minute };
const raised = new Map([['one', record]]);
const watches = { areWatched: true, alerts: new Map<string, WatchedAlert>() };

const standing = (more: Partial<OpenAlert> = {}, given: Partial<Parameters<typeof standingOf>[1]> = {}) =>
  standingOf({ ...alert, ...more }, { raised, watches, now, ...given }, 'db');

describe('what makes an open alert go', () => {
  it('[O-3] is the quiet time that its gateway recorded, or a circuit that closes', () => {
    expect(standing()).toEqual({
      raisedBy: { gateway: 'gateway.mjs', pid: 4711, host: 'web-1' },
      clears: 'when its circuit closes, or after 4m without a failure or crash: in 1m if nothing fails',
      clearsAt: now + minute,
      next: 'unwedge why kb --db db',
    });
    expect(standing({ lastFailureAt: now - 4 * minute }).clears).toContain('now if nothing fails');
    expect(standing({ lastFailureAt: now - 4 * minute + 1 }).clears).toContain('in 1s if nothing fails');
  });

  it('[O-3] is the quiet time of the gateway that watches now, where that was given another', () => {
    const other = { areWatched: true, alerts: new Map([['kb', { integration: 'kb', quietMs: 10 * minute }]]) };
    expect(standing({}, { watches: other }).clearsAt).toBe(now + 7 * minute);
  });

  it('[O-3] is a circuit that closes and nothing else while it is open, whatever raised the alert', () => {
    const once = { integration: 'kb', quietMs: 10 * minute, once: 'its circuit has closed' };
    const held = { areWatched: true, alerts: new Map([['kb', once]]) };
    const clears = 'once its circuit has closed, or 10m after the last call that failed or was refused';
    for (const because of ['failures', 'crashes', 'rate'] as const) {
      const found = standing({ because }, { watches: held });
      expect([found.clears, found.clearsAt]).toEqual([clears, undefined]);
    }
  });

  it('[O-3] is no circuit for what keeps crashing: each restart closes it', () => {
    expect(standing({ because: 'crashes' })).toMatchObject({
      clears: 'after 4m without a failure or crash: in 1m if nothing fails',
      next: 'unwedge events --integration kb --failed --db db',
    });
  });

  it('[O-3] has no time where it goes by the rate, where no gateway runs, and where none is known', () => {
    expect(standing({ because: 'rate' })).toMatchObject({ clears: 'when enough of its calls succeed' });
    const unwatched = standing({}, { watches: { ...watches, areWatched: false } });
    expect(unwatched.clears).toBe('by no one now: the next gateway that runs on it looks again');
    const unknown = standing({}, { raised: new Map() });
    expect(unknown).toEqual({
      clears: 'when its circuit closes, or after a time without a failure or crash',
      next: 'unwedge why kb --db db',
    });
  });

  it('[O-3] is age, for failures that nobody has watched', () => {
    expect(standingOfUnwatched({ ...alert, because: 'crashes' }, undefined)).toEqual({
      clears: 'by itself, once fewer than 5 crashes are of the last 10m',
      next: 'unwedge events --integration kb --failed',
    });
  });
});
