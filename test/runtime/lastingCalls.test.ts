import { describe, expect, it } from 'vitest';
import { type CallUnderWay, LastingCalls } from '../../src/runtime/lastingCalls.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

function started() {
  const clock = new SimulatedClock();
  const open = new Map<string, CallUnderWay>();
  const lasting = new LastingCalls(clock);
  const told: (readonly string[])[] = [];
  lasting.changed = () => told.push(lasting.told.map(({ call }) => call));
  const leave = lasting.add(() => open.values());
  const begin = (call: string): void => {
    open.set(call, { integration: 'kb', call, tool: 'act', startedAt: clock.now() });
    lasting.began();
  };
  const end = (call: string): void => {
    open.delete(call);
    lasting.ended(call);
  };
  return { clock, lasting, told, leave, begin, end };
}

describe('calls that are on record while they are open', () => {
  it('[I-4] are those that take a second, with the wall time of their start', async () => {
    const { clock, lasting, told, begin, end } = started();
    const at = clock.wallNow();
    begin('slow');
    begin('quick');
    end('quick');
    await clock.advance(1000);
    expect(told).toEqual([['slow']]);
    expect(lasting.told).toMatchObject([{ integration: 'kb', tool: 'act', startedAt: at }]);
    end('slow');
    expect(told).toEqual([['slow'], []]);
  });

  it('[I-4] are written when there are others, not each second', async () => {
    const { clock, told, begin, end } = started();
    begin('one');
    await clock.advance(1500);
    begin('other');
    await clock.advance(10_000);
    expect(told).toEqual([['one'], ['one', 'other']]);
    end('one');
    expect(told.at(-1)).toEqual(['other']);
  });

  it('[I-3] leave no timer when none is open, nor calls of a source that has left', async () => {
    const { clock, told, leave, begin, end } = started();
    begin('one');
    end('one');
    await clock.advance(1000);
    expect(clock.pending).toBe(0);
    begin('two');
    await clock.advance(1000);
    leave();
    expect(told).toEqual([['two'], []]);
    expect(clock.pending).toBe(0);
  });
});
