import { describe, expect, it } from 'vitest';
import { emptyRecord, type SignInRecord } from '../../../../../src/actors/mcp/http/auth/signInRecord.ts';
import {
  nextRequestAt,
  refusalsWith,
  withFailure,
  withRequest,
} from '../../../../../src/actors/mcp/http/auth/tokenAllowance.ts';

const empty = emptyRecord('https://mcp.example/mcp');
const now = 1_000_000_000;
const minute = 60_000;
const after = (record: SignInRecord, because: 'expiry' | 'refusal'): number =>
  nextRequestAt(record, because, now) - now;

describe('when a token may be asked for', () => {
  it('[P-4] is now, where nothing speaks against it', () => {
    expect([after(empty, 'expiry'), after(empty, 'refusal')]).toEqual([0, 0]);
  });

  it('[P-4] is after the oldest of six requests in five minutes', () => {
    let record: SignInRecord = empty;
    for (let count = 0; count < 5; count++) record = withRequest(record, now - 4 * minute + count);
    expect(after(record, 'expiry')).toBe(0);
    expect(after(withRequest(record, now), 'expiry')).toBe(minute);
    expect(nextRequestAt(withRequest(record, now), 'expiry', now + minute)).toBe(now + minute);
  });

  it('[P-4] is later the more requests failed, and not before the other side asked', () => {
    const waits: number[] = [];
    let record: SignInRecord = empty;
    for (let count = 0; count < 8; count++) {
      record = withFailure(record, now);
      waits.push(after(record, 'expiry') / 1000);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600]);
    expect(after(withFailure(empty, now, 30_000), 'expiry')).toBe(30_000);
    expect(after(withFailure(empty, now, 1e12), 'expiry')).toBe(60 * minute);
  });

  it('[P-4] is later where the token that took the place of a refused one is refused', () => {
    const waits: number[] = [];
    let record: SignInRecord = empty;
    for (let count = 0; count < 9; count++) {
      record = { ...record, refusals: refusalsWith(record, 'refusal', now) };
      waits.push(after(record, 'refusal') / minute);
    }
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect(after(record, 'expiry')).toBe(0);
  });

  it('[P-4] forgets refusals that are long past', () => {
    const refusals = { at: now, count: 6 };
    const record = { ...empty, refusals };
    expect(refusalsWith(record, 'refusal', now + 120 * minute)).toEqual({ at: now + 120 * minute, count: 7 });
    expect(refusalsWith(record, 'refusal', now + 121 * minute)).toEqual({ at: now + 121 * minute, count: 1 });
    expect(refusalsWith(record, 'expiry', now + 121 * minute)).toEqual(refusals);
  });

  it('[P-4] does not depend on a wall clock that was set back', () => {
    let record: SignInRecord = empty;
    for (let count = 0; count < 6; count++) record = withRequest(record, now + 1e9);
    expect(after(record, 'expiry')).toBe(0);
    expect(after({ ...empty, notBefore: now + 1e12 }, 'expiry')).toBe(60 * minute);
  });
});
