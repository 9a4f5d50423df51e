import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { deferred } from '../../support/deferred.ts';
import { hasPostgres } from '../../support/postgresServer.ts';

const ids = Array.from({ length: 20 }, (_, index) => `agent:${index}`);

async function startTwo(onMessage: MessageHandler) {
  const { url, ask } = await newSchema();
  // A lease that nobody outlives here: what is handed over is not waited for.
  const store = `${url}&leaseMs=600000`;
  const start = async (name: string) => {
    const gateway = createGateway({ store, control: false });
    onTestFinished(() => gateway.stop());
    const seen: unknown[] = [];
    const sessions = ids.map((id) =>
      gateway.session(id, {
        onMessage: async (message, turn) => {
          seen.push([name, id, message.text]);
          return onMessage(message, turn);
        },
      }),
    );
    await gateway.start();
    return { gateway, sessions, seen, owned: () => sessions.filter((session) => !session.heldElsewhere).length };
  };
  const one = await start('one');
  const two = await start('two');
  expect([one.owned(), two.owned()]).toEqual([20, 0]);
  return { one, two, ask, store };
}

describe.skipIf(!hasPostgres)('a gateway that stands by, without a session', () => {
  const told = `SELECT type, metadata::jsonb AS about FROM uw.event WHERE category = 'gateway' ORDER BY id`;
  const host = hostname();

  it('[N-7] says that it left when it is stopped, and the one that has the sessions too', async () => {
    const { one, two, ask } = await startTwo(() => undefined);
    const facts: unknown[] = [];
    two.gateway.on('gateway.left', (fact) => void facts.push(fact));
    await two.gateway.stop();
    const about = { pid: process.pid, host };
    expect(facts).toMatchObject([about]);
    expect(await ask(told)).toMatchObject([{ type: 'left', about }]);
    await two.gateway.stop();
    await one.gateway.stop();
    expect(await ask(told)).toHaveLength(2);
  });

  it('[N-7] is told of once by the next that starts on its machine where it was killed', async () => {
    const { ask, store } = await startTwo(() => undefined);
    // Its process began at another time: the number is that of another one now.
    await ask(
      `INSERT INTO uw.runtime (host, id, pid, process_start, started_at, renewed_at, name)
       SELECT host, 'dead', pid, '1' || process_start, started_at, renewed_at, 'standby.js' FROM uw.runtime LIMIT 1`,
    );
    for (let time = 0; time < 2; time++) {
      const gateway = createGateway({ store, control: false });
      onTestFinished(() => gateway.stop());
      await gateway.start();
    }
    expect(await ask(told)).toMatchObject([{ type: 'died', about: { gateway: 'standby.js', pid: process.pid, host } }]);
  });
});

describe.skipIf(!hasPostgres)('a gateway that stops, of two on one database', () => {
  it('[N-7] hands over what is idle at once, with what waits there, and the rest when its turn has ended', async () => {
    const goOn = deferred<void>();
    const { one, two } = await startTwo(async ({ text }) => {
      if (text === 'long') await goOn.promise;
    });
    const first = await one.sessions[0]?.send({ kind: 'user', text: 'long' });
    const waits = await one.sessions[0]?.send({ kind: 'user', text: 'next' });
    expect([first, waits]).toMatchObject([{ durable: true }, { durable: true }]);
    await expect.poll(() => one.seen.length).toBe(1);
    const stopped = one.gateway.stop({ drainMs: 60_000 });
    await expect.poll(() => two.owned()).toBe(19);
    expect(two.sessions[0]?.heldElsewhere).toBe(true);
    expect(await two.sessions[1]?.send({ kind: 'user', text: 'there' })).toMatchObject({
      accepted: true,
      durable: true,
    });
    goOn.resolve();
    await expect.poll(() => two.owned()).toBe(20);
    await expect
      .poll(() => two.seen)
      .toEqual([
        ['two', 'agent:1', 'there'],
        ['two', 'agent:0', 'next'],
      ]);
    await stopped;
    expect(one.seen).toHaveLength(1);
  });

  it('[N-7] hands over a session whose turn it cuts when that has ended, to be begun again there', async () => {
    const { one, two, ask } = await startTwo(
      (_message, turn) =>
        new Promise((_resolve, reject) => {
          turn.signal.addEventListener('abort', () => reject(new Error('told to end')));
          if (turn.delivery > 1) reject(new Error('again'));
        }),
    );
    await one.sessions[0]?.send({ kind: 'user', text: 'long' });
    await expect.poll(() => one.seen.length).toBe(1);
    await one.gateway.stop();
    await expect.poll(() => two.owned()).toBe(20);
    await expect.poll(() => two.seen).toEqual([['two', 'agent:0', 'long']]);
    expect(await ask('SELECT count(*)::int AS n FROM uw.node')).toEqual([{ n: 1 }]);
  });

  it('[N-7] takes no session over any more', async () => {
    const goOn = deferred<void>();
    const { one, two, ask } = await startTwo(() => goOn.promise);
    await one.sessions[0]?.send({ kind: 'user' });
    await expect.poll(() => one.seen.length).toBe(1);
    const stopping = one.gateway.stop({ drainMs: 60_000 });
    await expect.poll(() => two.owned()).toBe(19);
    await two.gateway.stop();
    await one.gateway.store?.flush();
    expect(await ask('SELECT key FROM uw.lease WHERE owner IS NOT NULL')).toEqual([{ key: 'agent:0' }]);
    goOn.resolve();
    await stopping;
  });
});
