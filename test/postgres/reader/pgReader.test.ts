import { describe, expect, it } from 'vitest';
import { openReader } from '../../../reader/openReader.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';

const body = '{"kind":"user","text":"hi"}';
const sent = { message: { kind: 'user', text: 'hi' } };

async function start() {
  const schema = await newSchema();
  await schema.open();
  const reader = await openReader(schema.url);
  const mail = (id: number, state: string, number: number | null, outcome: string | null = null): Promise<unknown> =>
    schema.ask(
      `INSERT INTO uw.mail (id, session, body, posted_at, sender, state, number, outcome) VALUES ($1, 's', $2, 0, 'x', $3, $4, $5)`,
      [id, state === 'waiting' ? body : null, state, number, outcome],
    );
  const message = (number: number, mailId: number | null, state: string): Promise<unknown> =>
    schema.ask(
      `INSERT INTO uw.message (session, number, mail, body, posted_at, state) VALUES ('s', $1, $2, $3, 0, $4)`,
      [...[number, mailId, body, state]],
    );
  return { mail, message, read: (id: string) => reader.message('s', id) };
}

describe.skipIf(!hasPostgres)('a message that came as mail, as other gateways read it', () => {
  it('[E-1] [N-3] waits until the owner takes it, and keeps its id, also when the mail is gone', async () => {
    const { mail, message, read } = await start();
    await mail(1, 'waiting', null);
    await mail(2, 'taken', 7);
    await message(7, 2, 'taken');
    await message(8, 3, 'done');
    expect(await read('s-x1')).toEqual({ id: 's-x1', state: 'waiting', ...sent });
    expect(await read('s-x2')).toEqual({ id: 's-x2', state: 'taken', ...sent });
    expect(await read('s-x3')).toEqual({ id: 's-x3', state: 'done', ...sent });
    for (const id of ['s-m7', 's-x4']) expect(await read(id)).toBeUndefined();
  });

  it('[E-1] [N-3] that joined another one by its key is that one', async () => {
    const { mail, message, read } = await start();
    await mail(1, 'taken', 5);
    await message(5, null, 'done');
    expect(await read('s-x1')).toEqual({ id: 's-m5', state: 'done', ...sent });
  });

  it('[E-1] [N-3] says why it was dropped before anybody took it', async () => {
    const { mail, read } = await start();
    await mail(1, 'ended', null, '{"ok":false,"failure":{"message":"An operator dropped it"}}');
    await mail(2, 'answered', null);
    expect(await read('s-x1')).toEqual({ id: 's-x1', state: 'dropped', error: 'An operator dropped it' });
    expect(await read('s-x2')).toEqual({ id: 's-x2', state: 'dropped' });
  });
});
