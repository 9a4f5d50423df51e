import { describe, expect, it } from 'vitest';
import type { Claim, Move, SessionStore } from '../../src/sessions/sessionStore.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';
import { connectTo, hasPostgres } from '../support/postgresServer.ts';
import { type OpenOptions, newSchema, type TestSchema } from '../store/startPostgres.ts';
import { claimed, limits, message } from './claimedSession.ts';

const ids = Array.from({ length: 8 }, (_, index) => `s-${index}`);
const sessionsOf = (store: PostgresStore, id: string): SessionStore => store.sessions({ id, isAlive: () => true });
const moves = ({ ask }: TestSchema) => ask('SELECT session, heir FROM uw.move ORDER BY session');

/** A node that owns sessions and tells of it with its next renewal, and one that has none. */
async function startUneven(options: OpenOptions = { leaseMs: 1_200 }) {
  const schema = await newSchema();
  const [one, two] = [await schema.open(options), await schema.open(options)];
  const ledgers = new Map(await Promise.all(ids.map(async (id) => [id, await claimed(one, 'a', id)] as const)));
  const asked: Move[] = [];
  sessionsOf(one, 'a').onAsked?.((some) => void asked.push(...some));
  const taker = sessionsOf(two, 'b');
  await claimed(two, 'b', 'own');
  // As its next renewal would say.
  await schema.ask(`UPDATE uw.node SET owned = 8 WHERE id = 'a'`);
  /** Looks for what can be taken, which is when moves are decided. */
  const look = async (): Promise<readonly string[]> => (await taker.takeable?.(ids))?.free ?? [];
  return { ...schema, ledgers, asked, taker, look };
}

const unheld = (claim: Claim | undefined): boolean => claim?.held === false;

describe.skipIf(!hasPostgres)('a move', () => {
  it('[N-2] is decided by the node that has fewer, told to the owner, and carried out by giving and claiming', async () => {
    const { ledgers, asked, taker, look, ...schema } = await startUneven();
    expect(await look()).toEqual([]);
    await expect.poll(() => moves(schema)).toHaveLength(3);
    const decided = await moves(schema);
    expect(new Set(decided.map(({ heir }) => heir))).toEqual(new Set(['b']));
    await expect.poll(() => asked.length).toBe(3);
    expect(asked.map(({ session, to }) => [session, to])).toEqual(
      expect.arrayContaining(decided.map(({ session }) => [session, 'b'])),
    );
    const [{ session }] = asked as [Move];
    await ledgers.get(session)?.release();
    expect(await look()).toEqual([session]);
    expect(unheld(await taker.claim(session, limits))).toBe(true);
    expect(await moves(schema)).toHaveLength(2);
  });

  it('[N-2] [N-3] keeps a session for its heir, until mail waits for it', async () => {
    const { ledgers, asked, look, open, ask } = await startUneven({ leaseMs: 60_000 });
    await look();
    await expect.poll(() => ask('SELECT count(*)::int AS n FROM uw.move')).toEqual([{ n: 3 }]);
    const [row] = await ask('SELECT session FROM uw.move');
    const session = String(row?.['session']);
    await ledgers.get(session)?.release();
    expect(asked).toEqual([]);
    const other = sessionsOf(await open(), 'c');
    const free = async (): Promise<unknown> => (await other.takeable?.([session]))?.free;
    expect(await free()).toEqual([]);
    expect(await other.claim(session, limits)).toEqual({ held: true, by: 'b' });
    await ask(`INSERT INTO uw.mail (session, body, posted_at, sender) VALUES ($1, '{"kind":"user"}', 0, 'd')`, [
      session,
    ]);
    expect(await free()).toEqual([session]);
    expect(unheld(await other.claim(session, limits))).toBe(true);
  });

  it.each([
    ['its time is over', 'UPDATE uw.move SET until = clock_timestamp()'],
    ['its heir is dead', `UPDATE uw.node SET expires_at = clock_timestamp() WHERE id = 'b'`],
  ])('[N-2] keeps it no longer when %s', async (_when, change) => {
    const { ledgers, look, open, ask } = await startUneven({ leaseMs: 60_000 });
    await look();
    await expect.poll(() => ask('SELECT count(*)::int AS n FROM uw.move')).toEqual([{ n: 3 }]);
    const session = String((await ask('SELECT session FROM uw.move'))[0]?.['session']);
    await ledgers.get(session)?.release();
    const other = sessionsOf(await open(), 'c');
    expect((await other.takeable?.([session]))?.free).toEqual([]);
    await ask(change);
    expect((await other.takeable?.([session]))?.free).toEqual([session]);
    expect(unheld(await other.claim(session, limits))).toBe(true);
  });

  it('[N-2] [N-4] reserves nothing that a dead node owns', async () => {
    const { look, open, ask } = await startUneven({ leaseMs: 60_000 });
    await look();
    await expect.poll(() => ask('SELECT count(*)::int AS n FROM uw.move')).toEqual([{ n: 3 }]);
    await ask(`UPDATE uw.node SET expires_at = clock_timestamp() WHERE id = 'a'`);
    const other = sessionsOf(await open(), 'c');
    expect((await other.takeable?.(ids))?.free).toHaveLength(8);
    for (const id of ids) expect(unheld(await other.claim(id, limits))).toBe(true);
  });

  it('[N-2] is of no session in which something is under way or waits', async () => {
    const { ledgers, look, ask, ...schema } = await startUneven({ leaseMs: 60_000 });
    await ledgers.get('s-0')?.post(message(1));
    await ask(`INSERT INTO uw.mail (session, body, posted_at, sender) VALUES ('s-1', '{}', 0, 'd')`);
    await ask(`INSERT INTO uw.call (id, session, turn, integration, tool, input, runtime, started_at, deadline_at, seq)
      SELECT key, key, 1, 'i', 't', '{}', 'a', 0, 0, 1 FROM uw.lease WHERE key NOT IN ('s-0', 's-1', 's-2', 'own')`);
    await look();
    await expect.poll(() => moves({ ask, ...schema })).toEqual([{ session: 's-2', heir: 'b' }]);
  });

  it('[N-2] is decided by one node at a time', async () => {
    const { look, url, schema, ask } = await startUneven({ leaseMs: 600 });
    const another = await connectTo(url);
    await another.query('BEGIN');
    await another.query(`SELECT pg_advisory_xact_lock(hashtext('unwedge moves of "${schema}"'), 0)`);
    for (let looks = 0; looks < 20; looks++) await look();
    expect(await ask('SELECT session FROM uw.move')).toEqual([]);
    await another.end();
    await expect.poll(() => look().then(() => ask('SELECT session FROM uw.move'))).toHaveLength(3);
  });
});
