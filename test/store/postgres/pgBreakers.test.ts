import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../../src/policy/persistedBreaker.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../startPostgres.ts';
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
