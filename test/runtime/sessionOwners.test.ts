import { describe, expect, it } from 'vitest';
import { identify, type ProcessWorld } from '../../src/actors/process/processIdentity.ts';
import { createOwners } from '../../src/runtime/sessionOwners.ts';
import type { RuntimeRow } from '../../src/store/runtimes.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const ours = { pid: process.pid, parent: 1, group: 1, session: 1, startTime: '1', zombie: false };
const other = { ...ours, pid: 4_000_000, startTime: '2' };
const world = (...entries: ProcessWorld['entries'][number][]): ProcessWorld => ({ entries, boot: 'b', namespace: 'n' });

/** The run of another process, which was seen with ours when this was started. */
function startOwners() {
  const clock = new SimulatedClock();
  const owners = createOwners(clock);
  const look = (seen: ProcessWorld) => owners.see(seen, clock.now(), clock.wallNow());
  look(world(ours, other));
  const at = clock.wallNow();
  const processStart = identify(world(other), other.pid).start;
  const run: RuntimeRow = {
    ...{ id: 'other', pid: other.pid, processStart, name: 'other', socket: undefined },
    ...{ startedAt: at - 1000, renewedAt: at },
  };
  return { clock, owners, look, run, renewed: (): RuntimeRow => ({ ...run, renewedAt: clock.wallNow() }) };
}

describe('the owner of a session', () => {
  it('[G-11] is alive while its process is, and dead when that is gone', () => {
    const { owners, look, run } = startOwners();
    expect(owners.isAlive(run)).toBe(true);
    look(world(ours));
    expect(owners.isAlive(run)).toBe(false);
  });

  it('[G-11] is dead when it has not renewed its row for 5 min, not before', async () => {
    const { clock, owners, run } = startOwners();
    expect(owners.isAlive(run)).toBe(true);
    await clock.advance(299_999);
    expect(owners.isAlive(run)).toBe(true);
    await clock.advance(1);
    expect(owners.isAlive(run)).toBe(false);
  });

  it('[G-11] is given time to renew when the machine has slept', async () => {
    const { clock, owners, run, renewed } = startOwners();
    expect(owners.isAlive(run)).toBe(true);
    clock.stepWall(3_600_000);
    expect(owners.isAlive(run)).toBe(true);
    await clock.advance(60_000);
    expect(owners.isAlive(renewed())).toBe(true);
  });

  it('[G-11] of an old row that nobody renews is dead after 70 s', async () => {
    const { clock, owners, run, renewed } = startOwners();
    clock.stepWall(3_600_000);
    expect(owners.isAlive(run)).toBe(true);
    await clock.advance(69_999);
    expect(owners.isAlive(run)).toBe(true);
    await clock.advance(1);
    // However many ask: who looks for sessions that nobody has does not give it back to a run that is dead.
    expect([owners.isAlive(run), owners.isAlive(run)]).toEqual([false, false]);
    expect(owners.isAlive(renewed())).toBe(true);
  });

  it('[G-11] that started after we looked is alive until we look again', async () => {
    const { clock, owners, look, run } = startOwners();
    look(world(ours));
    expect(owners.isAlive({ ...run, startedAt: clock.wallNow() })).toBe(true);
    await clock.advance(10_000);
    look(world(ours));
    expect(owners.isAlive({ ...run, startedAt: clock.wallNow() - 10_000 })).toBe(false);
  });

  it('[G-11] whose clock is ahead of ours is dead all the same once its process is gone', async () => {
    const { clock, owners, look, run } = startOwners();
    const ahead = { ...run, startedAt: clock.wallNow() + 3_600_000 };
    expect(owners.isAlive(ahead)).toBe(true);
    await clock.advance(10_000);
    look(world(ours));
    expect(owners.isAlive(ahead)).toBe(false);
  });
});
