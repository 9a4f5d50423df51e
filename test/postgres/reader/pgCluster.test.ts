import { describe, expect, it } from 'vitest';
import { openReader } from '../../../reader/openReader.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { claimed, message } from '../claimedSession.ts';

async function startTwo() {
  const schema = await newSchema();
  const [one, two] = [await schema.open(), await schema.open()];
  const of = async (store: typeof one, runtime: string, session: string) => {
    store.runtimes.enter({
      id: runtime,
      pid: 7,
      processStart: '',
      startedAt: 1,
      renewedAt: 1,
      name: `gw ${runtime}`,
      socket: undefined,
    });
    return claimed(store, runtime, session);
  };
  const reader = await openReader(schema.url);
  const cluster = async () => {
    const view = await reader.cluster();
    if (view === undefined) throw new Error('no cluster');
    return view;
  };
  return { schema, one, two, of, cluster };
}

describe.skipIf(!hasPostgres)('the gateways on one database', () => {
  it('[N-7] are shown with what each owns, and its lease', async () => {
    const { one, two, of, cluster } = await startTwo();
    await of(one, 'a', 's-1');
    await of(one, 'a', 's-2');
    await of(two, 'b', 's-3');
    const { nodes, sessions, waiting } = await cluster();
    expect(nodes.map(({ id, pid, owned }) => [id, pid, owned])).toEqual([
      ['a', process.pid, 2],
      ['b', process.pid, 1],
    ]);
    for (const { leaseLeftMs, silentMs } of nodes) {
      expect(leaseLeftMs).toBeGreaterThan(0);
      expect(leaseLeftMs).toBeLessThanOrEqual(60_000);
      expect(silentMs).toBeGreaterThanOrEqual(0);
    }
    expect([sessions, waiting]).toEqual([3, []]);
  });

  it('[N-7] are shown no more when they have died, but for a minute, and while nobody has taken what waits for them', async () => {
    const { schema, one, two, of, cluster } = await startTwo();
    await of(one, 'idle', 's-1');
    const busy = await of(two, 'busy', 's-2');
    await busy.post(message(1));
    const shown = async () => (await cluster()).nodes.map(({ id }) => id);
    const died = (ago: string) => schema.ask(`UPDATE uw.node SET expires_at = clock_timestamp() - interval '${ago}'`);
    await died('50 s');
    expect(await shown()).toEqual(['idle', 'busy']);
    await died('61 s');
    expect(await shown()).toEqual(['busy']);
    const next = await of(one, 'next', 's-2');
    expect(await shown()).toEqual(['next']);
    expect(await next.finish(1, 'done', 1)).toBe('durable');
  });

  it('[N-7] [N-6] are shown with the sessions that have something to do, their fences and who has them, the oldest first', async () => {
    const { schema, one, two, of, cluster } = await startTwo();
    const [first, second] = [await of(one, 'a', 's-1'), await of(two, 'b', 's-2')];
    const at = Date.now();
    await second.post({ ...message(1), at: at - 60_000 });
    await first.post({ ...message(1), at });
    await first.post({ ...message(2), at });
    expect((await cluster()).waiting).toMatchObject([
      { session: 's-2', node: 'b', fence: 1, messages: 1 },
      { session: 's-1', node: 'a', fence: 1, messages: 2 },
    ]);
    expect((await cluster()).waiting[0]?.oldestMs).toBeGreaterThanOrEqual(60_000);
    await schema.ask(`UPDATE uw.node SET expires_at = clock_timestamp() - interval '1 s' WHERE id = 'b'`);
    const after = await cluster();
    expect(after.waiting.map(({ node }) => node)).toEqual([undefined, 'a']);
    expect(after.nodes.find(({ id }) => id === 'b')?.leaseLeftMs).toBeLessThanOrEqual(-1000);
  });
});
