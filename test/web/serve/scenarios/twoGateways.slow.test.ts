import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../src/sessions/history.ts';
import type { SessionWhy } from '../../../../src/sessions/why.ts';
import { newSchema } from '../../../store/startPostgres.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { hasPostgres } from '../../../support/postgresServer.ts';
import { eventsOf, startServed } from '../startServed.ts';

const echo = (word: string) => ({ tool: { server: 'kb', name: 'echo', arguments: { word } } });

type Served = Awaited<ReturnType<typeof startServed>>;

/** Two served gateways on one database. The first has the session `a`; its calls hang where that is wanted. */
async function startTwo({ hangs = false, leaseMs = 600_000 } = {}) {
  const { url, ask } = await newSchema();
  const store = `${url}&leaseMs=${leaseMs}`;
  const servers = { kb: faultyServer(hangs ? { faults: [{ tool: 'echo', do: 'hang' }] } : {}) };
  const owner = await startServed({ store, servers });
  const other = await startServed({ store, servers: { kb: faultyServer() } });
  await owner.post('/v1/sessions', { id: 'a' });
  expect(await other.get('/v1/sessions/a')).toMatchObject({ id: 'serve:a', heldElsewhere: true });
  return { owner, other, query: ask };
}

/** Ends the call that hangs. */
async function endCall({ get, post }: Served): Promise<void> {
  const why = await callUnderWay(get);
  await post('/v1/sessions/a/fire', { rule: why.next?.id ?? '' });
}

async function callUnderWay(get: Served['get']): Promise<SessionWhy> {
  let why = await get<SessionWhy>('/v1/sessions/a/why');
  await expect
    .poll(async () => {
      why = await get<SessionWhy>('/v1/sessions/a/why');
      return why.calls[0]?.progress?.phase;
    })
    .toBe('in_flight');
  return why;
}

describe.skipIf(!hasPostgres)('two served gateways on one database', () => {
  it('[E-1] [N-3] give the same answer to a second message of a key, whichever of them accepted the first', async () => {
    const { owner, other } = await startTwo();
    const first = await owner.send('a', echo('A'), '1h', 'k-1');
    const mailed = await other.send('a', echo('B'), '1h', 'k-2');
    expect([first, mailed]).toMatchObject([
      { status: 200, id: 'serve:a-m1', state: 'done', result: { status: 'ok' } },
      { status: 200, id: 'serve:a-x1', state: 'done', result: { status: 'ok' } },
    ]);
    for (const { send, get } of [owner, other]) {
      for (const [sent, word, key] of [[first, 'A', 'k-1'] as const, [mailed, 'B', 'k-2'] as const]) {
        const { id, result } = sent;
        const again = { status: 200, id, state: 'done', result, duplicate: true };
        for (const wait of ['', '1h']) expect(await send('a', echo(word), wait, key)).toMatchObject(again);
        expect(await send('a', echo('OTHER'), '1h', key)).toMatchObject({
          status: 422,
          error: `Another message was accepted under this Idempotency-Key: ${id}.`,
        });
        expect(await get(`/v1/sessions/a/messages/${id}`)).toEqual({ id, state: 'done', result });
      }
    }
    expect((await other.ask('/v1/sessions/a/messages/a-m9')).status).toBe(404);
  });

  it('[E-1] [N-3] wait for the end of a message of a key, and tell a failure, wherever it is processed', async () => {
    const { owner, other } = await startTwo({ hangs: true });
    await owner.send('a', echo('A'), '', 'k-1');
    await callUnderWay(owner.get);
    const running = { status: 202, id: 'serve:a-m1', state: 'running', duplicate: true };
    expect(await other.send('a', echo('A'), '', 'k-1')).toMatchObject(running);
    expect(await other.send('a', echo('A'), '1ms', 'k-1')).toMatchObject(running);
    expect((await other.send('a', echo('OTHER'), '', 'k-1')).status).toBe(422);
    await other.send('a', echo('B'), '', 'k-2');
    // One that the owner gets under the same key before it has taken that mail is the message, and the mail joins it.
    await expect.poll(() => owner.get('/v1/sessions/a')).toMatchObject({ waiting: 1 });
    const waiting = { status: 202, id: 'serve:a-x1', state: 'waiting', duplicate: true };
    for (const { send } of [owner, other]) expect(await send('a', echo('B'), '', 'k-2')).toMatchObject(waiting);
    expect(await other.get('/v1/sessions/a/messages/serve:a-x1')).toEqual({ id: 'serve:a-x1', state: 'waiting' });
    const ends = [other.send('a', echo('A'), '1h', 'k-1'), owner.send('a', echo('B'), '1h', 'k-2')];
    await endCall(owner);
    expect(await ends[0]).toMatchObject({ status: 200, state: 'failed', result: { synthetic: true }, duplicate: true });
    await endCall(owner);
    expect(await ends[1]).toMatchObject({ status: 200, id: 'serve:a-x1', state: 'failed', duplicate: true });
  });

  it('[E-1] [N-2] tell what is on record of a session of the other, and which one has it', async () => {
    const { owner, other } = await startTwo({ hangs: true });
    await owner.send('a', echo('A'), '', 'k-1');
    await callUnderWay(owner.get);
    const at = { host: hostname(), pid: process.pid };
    expect(await other.get('/v1/sessions/a/why')).toMatchObject({
      ...{ heldElsewhere: true, owner: at },
      onRecord: { messages: [{ id: 'serve:a-m1', state: 'taken' }], calls: [{ integration: 'kb', tool: 'echo' }] },
    });
    const asked = [
      other.ask('/v1/sessions/a/events'),
      other.post('/v1/sessions/a/cancel', {}),
      other.post('/v1/sessions/a/fire', { rule: 'turn' }),
    ];
    for (const response of await Promise.all(asked)) {
      expect([response.status, await response.json()]).toEqual([
        409,
        {
          error: expect.stringMatching(
            `^Another gateway has the session: .+ on ${at.host} \\(pid ${at.pid}\\)\\.$`,
          ) as string,
        },
      ]);
    }
    await endCall(owner);
    expect(await owner.send('a', echo('A'), '1h', 'k-1')).toMatchObject({ state: 'failed' });
    const { history } = await owner.get<{ history: HistoryEntry[] }>('/v1/sessions/a/history');
    expect(history.map(({ type }) => type)).toEqual(['message', 'tool_call', 'tool_result']);
    expect(await other.get('/v1/sessions/a/history')).toEqual({ history });
  });

  it('[E-1] [N-2] [G-11] end the events of a session that is lost, and its clients hear how their messages end elsewhere', async () => {
    const { owner, other, query } = await startTwo({ hangs: true, leaseMs: 3_000 });
    const events = eventsOf(await owner.ask('/v1/sessions/a/events'));
    const sent = owner.send('a', echo('A'), '1h', 'k-1');
    await callUnderWay(owner.get);
    // As if its node had not been renewed in time: the other one may have its sessions at once.
    await query(`DELETE FROM uw.node WHERE id = (SELECT owner FROM uw.lease WHERE key = 'serve:a')`);
    const types: string[] = [];
    for await (const { event = '' } of events) types.push(event);
    expect(types.at(-1)).toBe('session.taken_over');
    // What its call did is not known: it is not made again.
    const end = { status: 200, id: 'serve:a-m1', state: 'failed', result: { outcome: 'unknown' } };
    expect(await sent).toMatchObject({ ...end, durable: true });
    for (const { send } of [owner, other])
      expect(await send('a', echo('A'), '1h', 'k-1')).toMatchObject({ ...end, duplicate: true });
  });
});
