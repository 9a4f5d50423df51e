import { describe, expect, it } from 'vitest';
import { watchUnreadInput } from '../../../proxy/mcp/unreadInput.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function start() {
  const clock = new SimulatedClock();
  let suspected = 0;
  const suspect = (): Promise<unknown> => Promise.resolve(++suspected);
  return { clock, suspected: () => suspected, unreadInput: watchUnreadInput({ clock, limitMs: 30_000, suspect }) };
}

describe('a server that takes no more', () => {
  it('[P-3] is suspected at its limit, however often it is said meanwhile', async () => {
    const { clock, suspected, unreadInput } = start();
    unreadInput.begin();
    await clock.advance(20_000);
    unreadInput.begin();
    await clock.advance(9999);
    expect(suspected()).toBe(0);
    await clock.advance(1);
    expect(suspected()).toBe(1);
  });

  it('[P-3] is suspected again at the next limit when it answers and still takes nothing', async () => {
    const { clock, suspected, unreadInput } = start();
    unreadInput.begin();
    await clock.advance(30_000);
    await clock.advance(29_999);
    expect(suspected()).toBe(1);
    await clock.advance(1);
    expect(suspected()).toBe(2);
  });

  it('[P-3] is not suspected once it takes more, nor asked about again', async () => {
    const { clock, suspected, unreadInput } = start();
    unreadInput.begin();
    await clock.advance(29_999);
    unreadInput.end();
    await clock.advance(30_000);
    unreadInput.begin();
    await clock.advance(30_000);
    unreadInput.end();
    await clock.advance(60_000);
    expect(suspected()).toBe(1);
  });
});
