import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../postgres/pgConnections.ts';
import { Rebalance } from '../../postgres/rebalance.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { evenly, settled } from './clusterSeeds.ts';
import { leaseMs } from './simulatedCluster.ts';

describe('nodes that share sessions', () => {
  it('[N-2] come to even counts by few moves, whoever joins, leaves or dies, and then none is moved', async () => {
    for (let seed = 1; seed <= 20; seed++) expect(await settled(seed), `seed ${seed}`).toEqual(evenly);
  });
});

describe('the decision on moves', () => {
  function start(answers: Record<string, unknown> = {}) {
    const clock = new SimulatedClock();
    const ran: string[] = [];
    let isDown = false;
    const state = { owned: 0, movable: ['s', 't', 'u'], decides: true };
    const run: Transaction['run'] = ({ name }, values) => {
      ran.push(name === 'note_moves' ? `note ${String(values?.[0])}` : name);
      const load = { session: null, leaving: 0 };
      const rows: Record<string, unknown> = {
        lock_moves: [{ decides: state.decides }],
        find_movable: [
          { ...load, node: 'me', owned: state.owned, waits: true },
          { ...load, node: 'a', owned: 10, waits: false },
          ...state.movable.map((session) => ({ session, node: 'a' })),
        ],
        note_moves: [],
        ...answers,
      };
      return Promise.resolve(rows[name] as never);
    };
    const rebalance = new Rebalance({
      database: { decide: (work) => (isDown ? Promise.resolve(undefined) : work({ run } as Transaction)) },
      clock,
      random: () => 0,
      runtime: 'me',
      leaseMs,
      owned: () => state.owned,
    });
    const look = async (mostOwned = 10): Promise<readonly string[]> => {
      ran.length = 0;
      await rebalance.look(['s', 't', 'u'], mostOwned);
      return [...ran];
    };
    const goDown = (): void => {
      isDown = true;
    };
    return { clock, rebalance, state, look, goDown };
  }

  it('[N-2] [N-8] asks nothing of the database while others own no more than the slack above', async () => {
    const { state, look } = start();
    state.owned = 8;
    expect(await look()).toEqual([]);
    state.owned = 7;
    expect((await look())[0]).toBe('lock_moves');
  });

  it('[N-2] is noted for what it takes, once in the life of a lease', async () => {
    const { clock, rebalance, look } = start();
    expect(await look()).toEqual(['lock_moves', 'find_movable', 'note u,t,s']);
    for (const session of ['s', 't', 'u']) rebalance.claimed(session);
    await clock.advance(leaseMs - 1);
    expect(await look()).toEqual([]);
    await clock.advance(1);
    expect(await look()).toHaveLength(3);
  });

  it('[N-2] is left to another node that decides, and tried soon again', async () => {
    const { clock, state, look } = start();
    state.decides = false;
    expect(await look()).toEqual(['lock_moves']);
    expect(await look()).toEqual([]);
    await clock.advance(leaseMs / 4);
    expect(await look()).toEqual(['lock_moves']);
  });

  it.each(['finds none', 'brings none'])(
    '[N-2] that %s is made again later each time, at the latest after 32 leases',
    async (how) => {
      const { clock, state, look } = start();
      if (how === 'finds none') state.movable = [];
      // What it brings is known at the next one.
      else await look().then(() => clock.advance(leaseMs));
      for (const lives of [2, 4, 8, 16, 32, 32]) {
        expect(await look()).not.toEqual([]);
        await clock.advance(lives * leaseMs - 1);
        expect(await look()).toEqual([]);
        await clock.advance(1);
      }
    },
  );

  it('[N-2] rejects nothing when the database is away', async () => {
    const { look, goDown } = start();
    goDown();
    expect(await look()).toEqual([]);
  });
});
