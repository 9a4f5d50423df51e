import { describe, expect, it } from 'vitest';
import { lookAtNodes } from '../../postgres/leaseStatements.ts';
import type { PgDatabase } from '../../postgres/pgDatabase.ts';
import type { PgRow } from '../../postgres/pgDriver.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';
import { Takeovers } from '../../postgres/takeovers.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { inSchema } from '../../postgres/pgTarget.ts';
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

  it.each([
    ['presence and connection are gone', false, 0, -1, true],
    ['presence is there', true, 0, -1, false],
    ['renewed by a connection that is there', false, undefined, -1, false],
    ['version tells of no connection', false, null, -1, false],
    ['presence was not there when it was renewed', false, 0, 0, false],
  ])('[N-4] is or is not seen as what a killed node has, whose %s', async (_how, isThere, backend, dueMs, isGone) => {
    const { open, ask, schema } = await newSchema();
    const one = await open();
    await claimed(one, 'a');
    await expect.poll(() => one.node.isPresent('a')).toBe(true);
    if (!isThere) await one.node.close();
    // No backend has the pid 0.
    if (backend !== undefined) await ask('UPDATE uw.node SET backend = $1', [backend]);
    await ask(`UPDATE uw.node SET due_at = expires_at + $1::integer * interval '1 ms'`, [dueMs]);
    const look = (gone: readonly unknown[]) => ask(inSchema(lookAtNodes.text, schema), ['b', gone]);
    const seen = async (gone: readonly unknown[]) => (await look(gone)).map((row) => typeof row['gone'] === 'string');
    await expect.poll(() => seen([])).toEqual([isGone]);
    const [node] = await look([]);
    // Renewed meanwhile it has another name.
    expect(await seen(['a 1.5'])).toEqual([isGone]);
    expect(await seen([node?.['gone']])).toEqual(isGone ? [] : [false]);
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
    const state = { hears: true, gone: {} as Readonly<Record<string, string>> };
    const judged: unknown[] = [];
    let nodes: Record<string, number> = { a: 2_000, b: 900 };
    let owners: readonly string[] = ['a', 'b'];
    let free: readonly string[] = [];
    const answers: Record<string, () => readonly PgRow[]> = {
      look_at_nodes: () =>
        Object.entries(nodes).map(([id, inMs]) => ({ id, in_ms: inMs, gone: state.gone[id] ?? null })),
      find_takeable: () => [
        ...free.map((key) => ({ key, owner: null })),
        ...owners.map((owner) => ({ key: null, owner })),
      ],
    };
    const database = {
      read({ name }: { readonly name: string }, [, gone]: readonly unknown[]) {
        asked.push(name);
        if (name === 'look_at_nodes') judged.push(gone);
        return Promise.resolve(answers[name]?.());
      },
    } as unknown as PgDatabase;
    const rebalance = { look: () => Promise.resolve([]), claimed: () => undefined };
    const options = {
      database,
      clock,
      random: () => 0,
      runtime: 'me',
      leaseMs: 2_500,
      hears: () => state.hears,
      rebalance,
    };
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
      state,
      judged,
      has(now: { nodes?: Record<string, number>; owners?: readonly string[]; free?: readonly string[] }) {
        nodes = now.nodes ?? nodes;
        owners = now.owners ?? owners;
        free = now.free ?? free;
      },
    };
  }

  it('[N-4] [N-8] is put once; then only which nodes live, until the first of those that matter can expire', async () => {
    const { ask, has } = startAsking();
    expect(await ask()).toEqual([true, 156.25, []]);
    expect(await ask()).toEqual([false, 156.25, []]);
    has({ nodes: { a: 2_000, b: 100, other: 5 } });
    expect(await ask()).toEqual([false, 100, []]);
  });

  it('[N-4] is put again when an owner has gone, and what is free then is asked about until it has an owner', async () => {
    const { ask, has } = startAsking();
    await ask();
    has({ nodes: { a: 2_000 }, owners: ['a'], free: ['t'] });
    expect(await ask()).toEqual([true, 156.25, ['t']]);
    has({ nodes: { a: 2_000, c: 2_000 }, owners: ['a', 'c'], free: [] });
    expect(await ask()).toEqual([true, 156.25, []]);
    expect(await ask()).toEqual([false, 156.25, []]);
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

  it('[N-4] declares a node dead that has had no connection for a twentieth of a lease, and none that was renewed meanwhile', async () => {
    const { ask, clock, state, judged } = startAsking();
    await clock.advance(1_000);
    await ask();
    state.gone = { a: 'a 1.0', b: 'b 1.0' };
    expect(await ask()).toEqual([false, 125, []]);
    await clock.advance(124);
    expect(await ask()).toEqual([false, 1, []]);
    await clock.advance(1);
    state.gone = { a: 'a 1.0', b: 'b 2.0' };
    expect(await ask()).toEqual([false, 0, []]);
    expect(judged).toEqual([[], [], [], ['a 1.0', 'b 1.0']]);
    await ask();
    expect(judged.at(-1)).toEqual(['a 1.0']);
  });

  it.each([
    ['when it has just begun', () => undefined],
    [
      'after its own connection was away',
      ({ takeovers, clock }) => clock.advance(10_000).then(() => takeovers.wake(true)),
    ],
  ] satisfies readonly (readonly [string, (asking: ReturnType<typeof startAsking>) => unknown])[])(
    '[N-4] [N-6] declares nobody dead early %s: then the server may have been away',
    async (_when, before) => {
      const asking = startAsking();
      await before(asking);
      asking.state.gone = { a: 'a 1.0' };
      await asking.ask();
      await asking.clock.advance(999);
      // It does not look more often for it.
      expect(await asking.ask()).toEqual([expect.any(Boolean), 1, []]);
      await asking.clock.advance(1);
      await asking.ask();
      expect(asking.judged).toEqual([[], [], ['a 1.0']]);
    },
  );

  it('[N-4] declares nobody dead early while it holds no presence itself, and looks no more often for it', async () => {
    const { ask, clock, state, judged } = startAsking();
    await clock.advance(1_000);
    state.gone = { a: 'a 1.0' };
    state.hears = false;
    expect(await ask()).toEqual([true, 156.25, []]);
    await clock.advance(2_000);
    expect(await ask()).toEqual([false, 156.25, []]);
    expect(judged).toEqual([[], []]);
  });

  it.each([
    [2, 156.25],
    [20, 312.5],
    [30, 468.75],
    [1_000, 468.75],
  ])('[N-8] looks at %i other nodes every %f ms at the oftenest', async (others, everyMs) => {
    const { ask, has } = startAsking();
    has({ nodes: Object.fromEntries(Array.from({ length: others }, (_, index) => [`n${index}`, 2_000])) });
    expect(await ask()).toEqual([true, everyMs, []]);
  });

  it('[N-4] costs nothing where none is waited for', async () => {
    const { ask } = startAsking();
    expect(await ask([])).toEqual([false, 2_500, []]);
  });
});
