import { describe, expect, it } from 'vitest';
import { identify, seeWorld } from '../../../src/actors/process/processIdentity.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../startPostgres.ts';
import { claimed, message, now } from '../../postgres/claimedSession.ts';

const world = await seeWorld();
const { start } = identify(world, process.pid);
const [time = '', ...where] = start.split('@');
/** Of an earlier process with our pid. */
const dead = [`${time}0`, ...where].join('@');

describe.skipIf(!hasPostgres)('the runtimes of a PostgreSQL database', () => {
  it('[L-5] [N-1] keep one that died as long as a message or a call of its session waits, until another claims that', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const row = { pid: process.pid, startedAt: now, renewedAt: now, name: 'gateway.mjs', socket: undefined };
    store.runtimes.enter({ ...row, id: 'idle', processStart: dead });
    store.runtimes.enter({ ...row, id: 'busy', processStart: dead });
    const ledger = await claimed(store, 'busy');
    await claimed(store, 'idle', 'other');
    await ledger.post(message(1));
    const look = async () => (await store.runtimes.removeDead(world, now)).map(({ id }) => id);
    expect(await look()).toEqual(['idle']);
    await ask(`UPDATE uw.message SET state = 'done'`);
    await ask(
      `INSERT INTO uw.call (id, session, turn, integration, tool, input, runtime, started_at, deadline_at, state, seq)
       VALUES ('c', 's', 1, 'kb', 'query', '{}', 'busy', 0, 1, 'pending', 1)`,
    );
    expect(await look()).toEqual([]);
    expect(await store.runtimes.pids()).toEqual([process.pid]);
    await ask(`UPDATE uw.lease SET owner = NULL WHERE key = 's'`);
    expect(await look()).toEqual(['busy']);
  });
});
