import { describe, expect, it } from 'vitest';
import type { PgDatabase } from '../../postgres/pgDatabase.ts';
import type { PgRow } from '../../postgres/pgDriver.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';
import { Takeovers } from '../../postgres/takeovers.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed, limits } from './claimedSession.ts';

const takeable = async (store: PostgresStore, runtime: string, sessions: readonly string[]) => {
  const found = await store.sessions({ id: runtime, isAlive: () => true }).takeable?.(sessions);
  return { ...found, free: [...(found?.free ?? [])].sort() };
};

describe.skipIf(!hasPostgres)('what can be taken over', () => {
  it('[N-4] is what was never claimed, what was given back, and what belongs to a node that has expired', async () => {
    const { open, ask } = await newSchema();
    const [one, two, three] = [await open(), await open(), await open()];
    await claimed(one, 'a', 'held');
    await (await claimed(one, 'a', 'released')).release();
    await claimed(two, 'b', 'expired');
    await claimed(three, 'c', 'own');
    await ask(`UPDATE uw.node SET expires_at = clock_timestamp() WHERE id = 'b'`);
    const found = await takeable(three, 'c', ['held', 'released', 'expired', 'own', 'new']);
    expect(found.free).toEqual(['expired', 'new', 'own', 'released']);
    expect(found.againInMs).toBeLessThanOrEqual(60_000 / 4 + 50);
  });

  it.each([
    ['is there, and its renewal overdue', true, -1, false],
    ['is gone, and its renewal not overdue', false, 10_000, false],
    ['is gone, and its renewal overdue', false, -1, true],
  ])('[N-4] is or is not what a node has whose presence %s', async (_how, isThere, dueMs, isFree) => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    await claimed(one, 'a');
    await expect.poll(() => one.node.isPresent('a')).toBe(true);
    if (!isThere) await one.node.close();
    await ask(`UPDATE uw.node SET due_at = clock_timestamp() + $1::integer * interval '1 ms' WHERE id = 'a'`, [dueMs]);
    await expect.poll(async () => (await takeable(two, 'b', ['s'])).free.length === 1).toBe(isFree);
    const claim = await two.sessions({ id: 'b', isAlive: () => true }).claim('s', limits);
    expect(claim?.held).toBe(!isFree);
  });

  it('[N-4] is told by who gives it back, to other nodes at once', async () => {
    const { open } = await newSchema();
    const [one, two] = [await open(), await open()];
    const ledger = await claimed(one, 'a');
    const sessions = two.sessions({ id: 'b', isAlive: () => true });
    let wakes = 0;
    sessions.onTakeable?.(() => wakes++);
    await expect.poll(() => wakes).toBe(1);
    expect(await sessions.takeable?.(['s'])).toMatchObject({ free: [] });
    await ledger.release();
    await expect.poll(() => wakes).toBe(2);
    expect(await sessions.takeable?.(['s'])).toMatchObject({ free: ['s'] });
    one.runtimes.leave('a');
    await expect.poll(() => wakes).toBe(3);
  });
});

describe('a question for very many sessions', () => {
  function startAsking() {
    const clock = new SimulatedClock();
    const asked: string[] = [];
    let nodes: Record<string, number> = { a: 2_000, b: 900 };
    let owners: readonly string[] = ['a', 'b'];
    let free: readonly string[] = [];
    const answers: Record<string, () => readonly PgRow[]> = {
      look_at_nodes: () => Object.entries(nodes).map(([id, inMs]) => ({ id, in_ms: inMs })),
      find_takeable: () => [
        ...free.map((key) => ({ key, owner: null })),
        ...owners.map((owner) => ({ key: null, owner })),
      ],
    };
    const database = {
      read({ name }: { readonly name: string }) {
        asked.push(name);
        return Promise.resolve(answers[name]?.());
      },
    } as unknown as PgDatabase;
    const rebalance = { look: () => Promise.resolve([]), claimed: () => undefined };
    const options = { database, clock, random: () => 0, runtime: 'me', leaseMs: 2_500, hears: () => true, rebalance };
    const takeovers = new Takeovers(options);
    const ask = async (sessions: readonly string[] = ['s', 't']) => {
      asked.length = 0;
      const found = await takeovers.ask(sessions);
      return [asked.includes('find_takeable'), found?.againInMs, found?.free];
    };
    return {
      takeovers,
      clock,
      ask,
      has(now: { nodes?: Record<string, number>; owners?: readonly string[]; free?: readonly string[] }) {
        nodes = now.nodes ?? nodes;
        owners = now.owners ?? owners;
        free = now.free ?? free;
      },
    };
  }

  it('[N-4] [N-8] is put once; then only which nodes live, until the first of those that matter can expire', async () => {
    const { ask, has } = startAsking();
    expect(await ask()).toEqual([true, 468.75, []]);
    expect(await ask()).toEqual([false, 468.75, []]);
    has({ nodes: { a: 2_000, b: 100, other: 5 } });
    expect(await ask()).toEqual([false, 100, []]);
  });

  it('[N-4] is put again when an owner has gone, and what is free then is asked about until it has an owner', async () => {
    const { ask, has } = startAsking();
    await ask();
    has({ nodes: { a: 2_000 }, owners: ['a'], free: ['t'] });
    expect(await ask()).toEqual([true, 468.75, ['t']]);
    has({ nodes: { a: 2_000, c: 2_000 }, owners: ['a', 'c'], free: [] });
    expect(await ask()).toEqual([true, 468.75, []]);
    expect(await ask()).toEqual([false, 468.75, []]);
  });

  it('[N-4] is put again for a session that was this runtime’s meanwhile, and for a new one', async () => {
    const { ask, takeovers } = startAsking();
    await ask();
    takeovers.claimed('s');
    expect((await ask(['t']))[0]).toBe(false);
    expect((await ask(['s', 't']))[0]).toBe(true);
    expect((await ask(['s', 't', 'u']))[0]).toBe(true);
  });

  it('[N-3] [N-4] is put again when it was told that one is free, and after a time though nothing was told', async () => {
    const { ask, takeovers, clock } = startAsking();
    await ask();
    takeovers.wake();
    expect([await ask(), await ask()].map(([all]) => all)).toEqual([true, false]);
    await clock.advance(9_999);
    expect((await ask())[0]).toBe(false);
    await clock.advance(1);
    expect((await ask())[0]).toBe(true);
  });

  it('[N-4] costs nothing where none is waited for', async () => {
    const { ask } = startAsking();
    expect(await ask([])).toEqual([false, 2_500, []]);
  });
});
