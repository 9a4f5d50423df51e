import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../web/serve/apiError.ts';
import { Places, type Room, waitingForPlaces } from '../../../web/serve/places.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start(room: Partial<Room> = {}) {
  const clock = new SimulatedClock();
  const places = new Places(clock, () => ({ maxInFlight: 2, queueLength: 1_000, limitMs: 60_000, ...room }));
  const enter = (session: number | string): (() => void) => places.enter('kb', String(session)).leave;
  const refusal = (session: number | string): ApiError | undefined => {
    try {
      places.enter('kb', String(session)).giveBack();
      return undefined;
    } catch (error) {
      return error as ApiError;
    }
  };
  return { clock, places, enter, refusal };
}

describe('places at a server or an agent', () => {
  it('[E-1] are waited for by as many sessions as may, and by each of them with all its messages', () => {
    const { enter, refusal } = start({ queueLength: 3 });
    const leave = Array.from({ length: 5 }, (_, session) => enter(session));
    expect(refusal(4)).toBeUndefined();
    expect(refusal(5)).toMatchObject({
      status: 429,
      retryAfter: 1,
      message: 'kb is busy, and as many sessions wait for it as may.',
    });
    const again = enter(0);
    leave[0]?.();
    expect(refusal(5)).toMatchObject({ status: 429 });
    again();
    expect(refusal(5)).toBeUndefined();
  });

  it('[E-1] are not waited for where they would come later than a call may take, by the pace of those before', () => {
    const { clock, enter, refusal } = start({ limitMs: 60_000 });
    const leave = Array.from({ length: 20 }, (_, session) => enter(session));
    expect(refusal('new')).toBeUndefined();
    for (const each of leave.slice(0, 4)) {
      clock.stall(5_000);
      each();
    }
    // 16 are left, of which 2 have a place: the new one would have one in 75 s.
    expect(refusal('new')).toMatchObject({
      status: 429,
      retryAfter: 15,
      message: 'kb is busy: 14 sessions wait for it already, and a call may take 1m.',
    });
    expect(refusal(10)).toBeUndefined();
    for (const each of leave.slice(4, 8)) {
      clock.stall(5_000);
      each();
    }
    expect(refusal('new')).toBeUndefined();
  });

  it('[E-1] have no pace while there is room for all', () => {
    const { clock, enter, refusal } = start({ limitMs: 10 });
    for (let run = 0; run < 5; run++) {
      const leave = enter('a');
      clock.stall(60_000);
      leave();
    }
    const leave = ['a', 'b', 'c'].map(enter);
    expect(refusal('d')).toBeUndefined();
    for (const each of leave) each();
  });

  it('[E-1] are always waited for by the first in line, so that a pace that was idle time is found out anew', () => {
    const { clock, enter, refusal } = start({ maxInFlight: 1, limitMs: 60_000 });
    for (let run = 0; run < 3; run++) {
      const leave = [enter('a'), enter('b')];
      clock.stall(600_000);
      for (const each of leave) each();
    }
    const leave = enter('a');
    expect(refusal('b')).toBeUndefined();
    const second = enter('b');
    expect(refusal('c')).toBeUndefined();
    leave();
    second();
  });

  it('[E-1] have no pace by what was given back, and no end of it either', () => {
    const { clock, places, enter, refusal } = start({ maxInFlight: 1, limitMs: 10_000 });
    const leave = Array.from({ length: 6 }, (_, session) => enter(session));
    leave[0]?.();
    clock.stall(8_000);
    leave[1]?.();
    expect(refusal('new')).toMatchObject({ status: 429 });
    for (let time = 0; time < 100; time++) places.enter('kb', '5').giveBack();
    expect(refusal('new')).toMatchObject({ status: 429 });
  });

  it('[E-1] have a line without end where a policy says nothing else; what is no policy is left for its check', () => {
    expect(waitingForPlaces(undefined)).toEqual({ queueLength: Number.MAX_SAFE_INTEGER });
    expect(waitingForPlaces({ queueLength: 0, maxInFlight: 1 })).toEqual({ queueLength: 0, maxInFlight: 1 });
    expect(waitingForPlaces('mcp' as never)).toBe('mcp');
  });
});
