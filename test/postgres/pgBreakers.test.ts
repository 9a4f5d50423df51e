import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../src/policy/records/persistedBreaker.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { SkippingClock } from '../support/skippingClock.ts';
import { newSchema } from '../store/startPostgres.ts';
import { now } from './claimedSession.ts';

const open: PersistedBreaker = {
  state: 'open',
  openedAt: now,
  openUntil: now + 60_000,
  lastOpenMs: 60_000,
  openings: 1,
  failures: 5,
  generation: 5,
};

describe.skipIf(!hasPostgres)('breakers that nodes share', () => {
  async function start() {
    const schema = await newSchema();
    const [one, two] = [await schema.open(), await schema.open()];
    one.breakers.save('kb', open);
    await one.flush();
    await two.look();
    return { one, two, ask: schema.ask };
  }

  it('[N-5] let two probe at the same moment, of which the database has one, and no third', async () => {
    const { one, two, ask } = await start();
    const due = open.openUntil;
    expect([
      one.breakers.claimProbe('kb', 5, 'one', 35_000, due),
      two.breakers.claimProbe('kb', 5, 'two', 35_000, due),
    ]).toEqual([true, true]);
    await Promise.all([one.flush(), two.flush()]);
    const [lease] = await ask('SELECT lease_owner AS owner FROM uw.breaker');
    await Promise.all([one.look(), two.look()]);
    expect([one.breakers.probeHolder('kb'), two.breakers.probeHolder('kb')]).toEqual([
      lease?.['owner'],
      lease?.['owner'],
    ]);
    expect(one.breakers.claimProbe('kb', 5, 'three', 35_000, due)).toBe(false);
  });

  /** Nodes that have calls of an integration, whose circuit one of them opens for a second. */
  async function opened(count: number) {
    const schema = await newSchema();
    const clock = new SkippingClock();
    clock.stop();
    const nodes = await Promise.all(Array.from({ length: count }, () => schema.open({ clock })));
    for (const node of nodes) node.breakers.countFailure('kb', 0);
    await Promise.all(nodes.map((node) => node.flush()));
    const due = clock.wallNow() + 1_000;
    nodes[0]?.breakers.save('kb', { ...open, openUntil: due, lastOpenMs: 1_000 });
    for (const node of nodes) {
      await node.flush();
      await node.look();
      await node.flush();
    }
    const claim = (): boolean[] =>
      nodes.map((node, index) => node.breakers.claimProbe('kb', 5, `owner-${index}`, 35_000, due));
    return { nodes, clock, due, claim };
  }

  it.each([2, 3])(
    '[N-5] have one of %i nodes probe that ask at the same moment, as they asked ahead',
    async (count) => {
      const { clock, claim } = await opened(count);
      clock.skip(1_000);
      expect(claim().filter(Boolean)).toHaveLength(1);
    },
  );

  it('[N-5] leave the probe to whoever asks, where the node that was given it has no call', async () => {
    const { nodes, clock, due } = await opened(2);
    clock.skip(1_000);
    const claims = (index: number): boolean | undefined =>
      nodes[index]?.breakers.claimProbe('kb', 5, `owner-${index}`, 35_000, due + 5_000);
    const other = nodes.findIndex((_, index) => claims(index) === false);
    expect(other).toBeGreaterThanOrEqual(0);
    nodes[1 - other]?.breakers.releaseProbe('kb', `owner-${1 - other}`);
    clock.skip(2_001);
    expect(claims(other)).toBe(true);
  });

  it('[N-5] have each node decide alone where the database does not say who probes', async () => {
    const schema = await newSchema();
    const clock = new SkippingClock();
    const [one, two] = [await schema.open({ clock }), await schema.open({ clock })];
    for (const node of [one, two]) node.breakers.countFailure('kb', 0);
    const due = clock.wallNow() + 1_000;
    one.breakers.save('kb', { ...open, openUntil: due, lastOpenMs: 1_000 });
    await one.flush();
    await two.look();
    await schema.ask('ALTER TABLE uw.breaker RENAME TO away');
    await Promise.all([one.look(), two.look()]);
    expect(one.breakers.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
    await schema.ask('ALTER TABLE uw.away RENAME TO breaker');
  });

  it('[N-5] tell of an opening within a second, without being asked', async () => {
    const { one, two } = await start();
    one.breakers.save('kb', { ...open, generation: 6 });
    const since = performance.now();
    await expect.poll(() => two.breakers.load('kb')?.generation).toBe(6);
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  it('[N-5] answer from what is known here while the database is away, and bring it there later', async () => {
    const { one, two, ask } = await start();
    await ask('ALTER TABLE uw.breaker RENAME TO away');
    expect(one.breakers.countFailure('new', 0)).toBe(1);
    expect(one.breakers.countFailure('new', 0)).toBe(2);
    expect(one.breakers.load('kb')?.state).toBe('open');
    await one.flush();
    await ask('ALTER TABLE uw.away RENAME TO breaker');
    await expect.poll(() => one.degraded).toBe(false);
    await one.flush();
    await two.look();
    expect(two.breakers.load('new')?.failures).toBe(2);
  });

  it('[N-5] take what others have changed of a row that could not be changed here', async () => {
    const { one, two } = await start();
    one.breakers.save('kb', { ...open, generation: 9 });
    await one.flush();
    // Refused by the database, for it knows a higher generation; what is read meanwhile is not left out for good.
    two.breakers.save('kb', { ...open, state: 'closed', generation: 6 });
    await two.look();
    await two.flush();
    await two.look();
    expect(two.breakers.load('kb')).toMatchObject({ generation: 9, state: 'open' });
  });
});
