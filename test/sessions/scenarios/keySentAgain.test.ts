import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { Message } from '../../../src/sessions/mailbox.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const user: Message = { kind: 'user' };
const freshPath = (): string => join(temporaryDirectory(), 'gateway.sqlite');

async function start(store: string, onMessage: MessageHandler) {
  const gateway = createGateway({ store, control: false, logger: false });
  const session = gateway.session('s', { onMessage });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return { gateway, session };
}

/** The end of the first message, as who sends its key again is told. */
async function again(sent: Promise<Acceptance>) {
  const answer = await sent;
  if (answer.accepted || answer.reason !== 'duplicate') throw new Error('It was accepted twice');
  return answer.processed;
}

const ends: MessageHandler = () => ({ receipt: 'r-1' });
const fails: MessageHandler = () => Promise.reject(Object.assign(new Error('no such account'), { status: 404 }));

/** A gateway that has processed one message, and the next one on its database. */
async function startAfter(onMessage: MessageHandler, store = freshPath()) {
  const { gateway, session } = await start(store, onMessage);
  const first = await session.send(user, { key: 'k' });
  const outcome = first.accepted ? await first.processed : undefined;
  await gateway.stop();
  return { outcome, store, ...(await start(store, () => 'another')) };
}

describe.each([':memory:', ...(hasSqlite ? ['a file'] : [])])(
  'a key that is sent again to a session in %s',
  (where) => {
    const place = (): string => (where === 'a file' ? freshPath() : where);

    it('[G-18] gives the outcome of the first, however often', async () => {
      const { session } = await start(place(), ends);
      const first = await session.send(user, { key: 'k' });
      const outcome = first.accepted ? await first.processed : undefined;
      expect(outcome).toEqual({ ok: true, value: { receipt: 'r-1' } });
      expect(await again(session.send(user, { key: 'k' }))).toEqual(outcome);
      expect(await again(session.send(user, { key: 'k' }))).toEqual(outcome);
    });

    it.each([{ total: 1n }, () => 1])(
      '[G-18] says that a value that is no JSON is not kept on disk, and that it is done',
      async (value) => {
        const { session } = await start(place(), () => value);
        const first = await session.send(user, { key: 'k' });
        expect(first.accepted && (await first.processed)).toEqual({ ok: true, value });
        const said = { message: expect.stringContaining('not kept') as string, outcome: 'done' };
        const told = where === 'a file' ? { ok: false, failure: said } : { ok: true, value };
        expect(await again(session.send(user, { key: 'k' }))).toMatchObject(told);
      },
    );

    it('[G-18] gives the outcome of the first to another text: a key names a message', async () => {
      const { session } = await start(place(), ends);
      await session.send({ kind: 'user', text: 'one' }, { key: 'k' });
      expect(await again(session.send({ kind: 'user', text: 'two' }, { key: 'k' }))).toMatchObject({ ok: true });
    });

    it('[G-18] waits for the first while that is under way, and ends with the stop', async () => {
      const waits: (() => void)[] = [];
      const { gateway, session } = await start(place(), () => {
        return new Promise<string>((resolve) => {
          waits.push(() => resolve('v'));
        });
      });
      await session.send(user, { key: 'k' });
      const waiting = again(session.send(user, { key: 'k' }));
      await expect.poll(() => waits).toHaveLength(1);
      waits[0]?.();
      expect(await waiting).toEqual({ ok: true, value: 'v' });
      await session.send(user, { key: 'k-2' });
      const cut = again(session.send(user, { key: 'k-2' }));
      await expect.poll(() => waits).toHaveLength(2);
      await gateway.stop();
      expect(await cut).toMatchObject({ ok: false, failure: { reason: 'stopped' } });
    });

    it('[G-18] gives the failure of the first', async () => {
      const { session } = await start(place(), fails);
      await session.send(user, { key: 'k' });
      const outcome = await again(session.send(user, { key: 'k' }));
      expect(outcome).toMatchObject({ ok: false, failure: { message: 'no such account' } });
    });
  },
);

describe.skipIf(!hasSqlite)('a key that is sent again after a restart', () => {
  it.each([
    ['value', ends],
    ['failure', fails],
  ])('[G-18] gives the %s of the first from the record', async (_, onMessage) => {
    const { session, outcome } = await startAfter(onMessage);
    const told: unknown = await again(session.send(user, { key: 'k' }));
    // No cause: that is of the process that met it.
    const expected =
      outcome?.ok === true ? outcome : { ok: false, failure: { message: 'no such account', kind: 'permanent' } };
    expect(told).toMatchObject(expected);
  });

  it('[G-18] says where what came of the first is not kept', async () => {
    const { session } = await startAfter(() => 'x'.repeat(70_000));
    const words = 'It was accepted before, and is done: what came of it is not kept any more';
    expect(await again(session.send(user, { key: 'k' }))).toMatchObject({
      ok: false,
      failure: { message: words, outcome: 'done' },
    });
  });

  it('[G-18] waits for the first, which is delivered again', async () => {
    const store = freshPath();
    const hangs: MessageHandler = (_message, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve));
    const before = await start(store, hangs);
    await before.session.send(user, { key: 'k' });
    await expect.poll(() => before.session.history).toHaveLength(1);
    await before.gateway.stop();
    const after = await start(store, () => 'at last');
    expect(await again(after.session.send(user, { key: 'k' }))).toEqual({ ok: true, value: 'at last' });
  });

  it('[G-18] [G-14] says that the first is a dead letter, and gives the outcome of that once it was sent again', async () => {
    const { gateway, store } = await startAfter(ends);
    await gateway.stop();
    openDatabase(store).exec(`UPDATE unwedge_messages SET state = 'poison', outcome = NULL`);
    const { session } = await start(store, () => 'mended');
    expect(await again(session.send(user, { key: 'k' }))).toMatchObject({
      failure: { message: 'It is a dead letter: poison' },
    });
    await session.sendAgain('s-m1');
    expect(await again(session.send(user, { key: 'k' }))).toEqual({ ok: true, value: 'mended' });
  });
});
