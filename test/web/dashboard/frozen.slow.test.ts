import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pendingRecords } from '../../../web/dashboard/frozen.ts';
import { openReader } from '../../../reader/openReader.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { sourceOf, startGateway } from './startDashboard.ts';

/** A gateway beside the first whose process runs, takes connections and never answers, as one under SIGSTOP does. */
async function addFrozen(path: string) {
  const socket = join(dirname(path), 'frozen.sock');
  const listener = createServer(() => undefined).listen(socket);
  onTestFinished(() => void listener.close());
  await once(listener, 'listening');
  const database = openDatabase(path);
  database
    .prepare(
      `INSERT INTO unwedge_runtimes (id, pid, process_start, started_at, renewed_at, name, socket)
       SELECT 'frozen-1', pid, process_start, started_at, renewed_at, 'nightly', ? FROM unwedge_runtimes`,
    )
    .run(socket);
  return {
    database,
    leave: () => void database.prepare(`DELETE FROM unwedge_runtimes WHERE id = 'frozen-1'`).run(),
  };
}

/** A session of a gateway that is gone, with a message that waits. */
function addWaiting(database: ReturnType<typeof openDatabase>, id: string): void {
  database.prepare('INSERT INTO unwedge_sessions (id, fence) VALUES (?, 1)').run(id);
  database
    .prepare(
      `INSERT INTO unwedge_messages (session, number, body, state, deliveries, posted_at)
       VALUES (?, 1, '{"kind":"user","text":"go"}', 'waiting', 0, CAST(? AS INTEGER))`,
    )
    .run(id, Date.now());
}

describe.skipIf(!hasSqlite)('a gateway that is frozen', () => {
  it('[O-13] is shown so, as what needs a person, with since when, until it answers or is gone', async () => {
    const { path } = await startGateway();
    const { leave } = await addFrozen(path);
    const source = sourceOf(path);
    const first = await source.snapshot(900_000);
    expect(first.runtimes.map(({ name, isFrozen = false }) => [name, isFrozen])).toContainEqual(['nightly', true]);
    expect(first.runtimes.filter(({ isFrozen }) => isFrozen === true)).toHaveLength(1);
    expect(first.waits).toMatchObject([
      {
        ...{ key: 'frozen frozen-1', name: 'nightly', of: 'gateway', sign: 'frozen', needsPerson: true },
        ...{
          since: first.at,
          text: expect.stringContaining(`Does not answer: it is frozen or busy`) as string,
        },
      },
    ]);
    expect(first.waits[0]).not.toHaveProperty('rule');
    const second = await source.snapshot(900_000);
    expect(second.waits[0]?.since).toBe(first.at);
    leave();
    expect((await source.snapshot(900_000)).waits).toEqual([]);
  });

  it('[O-13] is shown with the work that waits for it', async () => {
    const { path } = await startGateway();
    const { database } = await addFrozen(path);
    addWaiting(database, 'agent:lost');
    const { waits } = await sourceOf(path).snapshot(900_000);
    expect(waits[0]?.text).toContain('On record as pending: 1 message.');
  });

  it('[O-13] is shown with what is on record of its work', async () => {
    const { path, gateway } = await startGateway();
    await gateway.stop();
    const database = openDatabase(path);
    const id = 'agent:lost';
    const session = database.prepare('INSERT INTO unwedge_sessions (id, fence) VALUES (?, 1)');
    // However many have nothing to do.
    for (let idle = 0; idle < 300; idle++) session.run(`agent:${idle}`);
    addWaiting(database, id);
    const reader = await openReader(path);
    onTestFinished(() => reader.close());
    expect(await pendingRecords(reader, [])).toEqual({ calls: 0, messages: 1 });
  });
});
