import { describe, expect, it } from 'vitest';
import { endOfOutput, type LeftPipes, mostLeft, type OutputEnd } from '../../../src/actors/process/outputEnd.ts';
import type { Clock } from '../../../src/policy/clock.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { nextTurn } from './startProcess.ts';

/** Pipes whose turns the test counts: a step is a timer of 20 ms and two turns of the event loop. */
function startDrain(given: Partial<LeftPipes> = {}) {
  const clock = new SimulatedClock();
  const looks: number[] = [];
  let bytes = 0;
  let isHeld = false;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let result: OutputEnd | undefined;
  void endOfOutput({
    clock,
    ended,
    bytes: () => bytes,
    isHeld: () => {
      looks.push(clock.now());
      return Promise.resolve(isHeld);
    },
    quietMs: 200,
    unseenMs: 1000,
    ...given,
  }).then((how) => {
    result = how;
  });
  return {
    clock,
    looks,
    end,
    bring: (more: number) => (bytes += more),
    hold: () => (isHeld = true),
    result: () => result,
  };
}

describe('the end of output', () => {
  it('[S-2] is that of the pipe, whatever the time', async () => {
    const drain = startDrain();
    await drain.clock.advance(900);
    expect(drain.result()).toBeUndefined();
    drain.end();
    await drain.clock.advance(0);
    expect(drain.result()).toBe('ended');
  });

  it('[S-2] is given up once a holder is seen and nothing came for as long as it may', async () => {
    const drain = startDrain();
    drain.hold();
    await drain.clock.advance(199);
    expect([drain.result(), drain.looks]).toEqual([undefined, []]);
    await drain.clock.advance(1);
    expect([drain.result(), drain.looks]).toEqual(['held', [200]]);
  });

  it('[S-2] is waited for longer where no holder is seen', async () => {
    const drain = startDrain();
    await drain.clock.advance(999);
    expect([drain.result(), drain.looks]).toEqual([undefined, [200, 400, 800]]);
    await drain.clock.advance(1);
    expect(drain.result()).toBe('held');
  });

  it('[S-2] is not given up for a turn in which something came', async () => {
    const drain = startDrain();
    drain.hold();
    for (let turn = 0; turn < 30; turn++) {
      drain.bring(1);
      await drain.clock.advance(20);
    }
    await drain.clock.advance(180);
    expect(drain.result()).toBeUndefined();
    await drain.clock.advance(20);
    expect(drain.result()).toBe('held');
  });

  it('[S-2] is given up though a process that goes on writes without end', async () => {
    const drain = startDrain();
    drain.hold();
    drain.bring(mostLeft);
    for (let turn = 0; turn < 10; turn++) {
      drain.bring(1);
      await drain.clock.advance(20);
    }
    expect(drain.result()).toBe('held');
  });

  it('[S-2] [G-6] counts a turn as one step, however long the event loop stood still', async () => {
    const clock = new LateClock();
    let result: OutputEnd | undefined;
    const given = { clock, ended: new Promise(() => undefined), bytes: () => 0, isHeld: () => Promise.resolve(true) };
    void endOfOutput({ ...given, quietMs: 200 }).then((how) => {
      result = how;
    });
    for (let turn = 0; turn < 9; turn++) await clock.fireLate(10_000);
    expect(result).toBeUndefined();
    await clock.fireLate(10_000);
    expect(result).toBe('held');
  });

  it('[S-2] is asked for at least once where no time is to be waited', async () => {
    const drain = startDrain({ quietMs: 0 });
    drain.end();
    await drain.clock.advance(0);
    expect(drain.result()).toBe('ended');
  });

  it('[S-2] is given up some time where none is to be waited and no holder is seen', async () => {
    const drain = startDrain({ quietMs: 0 });
    await drain.clock.advance(999);
    expect(drain.result()).toBeUndefined();
    await drain.clock.advance(1);
    expect(drain.result()).toBe('held');
  });
});

/** The clock of a loop that is blocked: its timer fires long after it is due, and then the loop asks the system. */
class LateClock implements Clock {
  #now = 0;
  #timer: (() => void) | undefined;
  #turns: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#now;
  }

  setTimeout(callback: () => void): object {
    this.#timer = callback;
    return {};
  }

  clearTimeout(): void {
    this.#timer = undefined;
  }

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  async fireLate(byMs: number): Promise<void> {
    this.#now += byMs;
    this.#timer?.();
    for (let turn = 0; turn < 6; turn++) {
      await nextTurn();
      for (const callback of this.#turns.splice(0)) callback();
    }
  }
}
