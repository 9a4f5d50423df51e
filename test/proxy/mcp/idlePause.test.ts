import { describe, expect, it } from 'vitest';
import { createIdlePause } from '../../../proxy/mcp/idlePause.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** A pause that looks every second; what it touched is told by its times. */
function start() {
  const clock = new SimulatedClock();
  const touched: number[] = [];
  let owed = true;
  const touch = (): void => void touched.push(clock.now());
  const pause = createIdlePause({ clock, everyMs: 1000, isOwed: () => owed, touch });
  return { clock, pause, touched, owe: (isOwed: boolean) => void (owed = isOwed) };
}

describe('the calls of a server that waits for its client', () => {
  it('[P-3] show a sign of life as long as it waits, and once more when that is over: the time until then was not its own', async () => {
    const { clock, pause, touched, owe } = start();
    pause.check();
    await clock.advance(1500);
    expect(touched).toContain(1000);
    owe(false);
    await clock.advance(10_000);
    expect([touched.at(-1), clock.pending]).toEqual([2000, 0]);
  });

  it('[P-3] [I-3] show none while it owes the answers itself, nor after the end', async () => {
    const { clock, pause, touched, owe } = start();
    owe(false);
    pause.check();
    expect([touched, clock.pending]).toEqual([[], 0]);
    owe(true);
    pause.check();
    pause.stop();
    pause.check();
    await clock.advance(5000);
    expect([touched, clock.pending]).toEqual([[0], 0]);
  });
});
