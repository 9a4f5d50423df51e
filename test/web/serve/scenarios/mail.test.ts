import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../../support/postgresServer.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { newSchema } from '../../../store/startPostgres.ts';
import { startServed } from '../startServed.ts';

interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** A served gateway on PostgreSQL; mail can be left there that is older than its patience. */
async function start() {
  const { url, ask: query } = await newSchema();
  const clock = new SkippingClock();
  const served = await startServed({ store: `${url}&leaseMs=60000`, clock });
  const leave = (session: string): Promise<unknown> =>
    query(
      `INSERT INTO uw.mail (session, body, posted_at, sender, sent_at)
       VALUES ($1, '{"kind":"prompt","text":"hi"}', 0, 'nobody', clock_timestamp() - interval '40 s')`,
      [session],
    );
  /** Status and reasons, behind the next look for old mail. */
  const ready = async (): Promise<[number, readonly string[]]> => {
    clock.skip(6_000);
    const response = await served.ask('/readyz');
    return [response.status, ((await response.json()) as Readiness).reasons];
  };
  return { ...served, query, leave, ready };
}

describe.skipIf(!hasPostgres)('a served gateway on PostgreSQL', () => {
  it('[N-6] is not ready while nobody takes mail of a session that it has; that of sessions it cannot have is no matter', async () => {
    const { get, query, leave, ready } = await start();
    expect(await ready()).toEqual([200, []]);
    await query(`INSERT INTO uw.node (id, expires_at, due_at, host, pid, name, owned, waiting, renew_ms)
      VALUES ('hangs', clock_timestamp() + interval '1 h', clock_timestamp() + interval '1 h', 'web-2', 7, 'g', 1, 0, 1)`);
    await query(`INSERT INTO uw.lease (key, owner, lease_id, token)
      VALUES ('serve:a', 'hangs', '00000000-0000-0000-0000-000000000000', 1)`);
    await leave('agent:gone');
    await leave('serve:a');
    expect(await get('/v1/sessions/a')).toMatchObject({ heldElsewhere: true });
    const says = [503, [expect.stringMatching(/^A message of serve:a has waited for \S+, and nothing works on it\.$/)]];
    await expect.poll(ready, { timeout: 15_000 }).toEqual(says);
    await query(`DELETE FROM uw.node WHERE id = 'hangs'`);
    await expect.poll(ready, { timeout: 15_000 }).toEqual([200, []]);
    expect(await query('SELECT session, state FROM uw.mail ORDER BY session')).toEqual([
      { session: 'agent:gone', state: 'waiting' },
      { session: 'serve:a', state: 'ended' },
    ]);
  });
});
