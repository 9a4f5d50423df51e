import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import type { Message } from '../../../src/sessions/mailbox.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const note = { by: 'anna', why: 'its server is back' };

async function startGateway(store: string, onMessage: MessageHandler) {
  const gateway = createGateway({ store, control: false, logger: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const session = gateway.session('agent:main', { onMessage, mailbox: { limit: 1 } });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return { gateway, session, told: (type: string) => facts.filter((fact) => fact.type === type) };
}

/** A database with two messages of a session that waited too long, the first under a key; and the gateway that finds that out. */
async function startWithLetters(onMessage: MessageHandler) {
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const before = await startGateway(store, (_message, { signal }) => {
    return new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  await before.session.send({ kind: 'user', text: 'first', data: { n: 1 } }, { key: 'key-1' });
  await before.session.send({ kind: 'user', text: 'second' });
  await before.gateway.stop();
  openDatabase(store).exec('UPDATE unwedge_messages SET posted_at = 1');
  const started = await startGateway(store, onMessage);
  expect(started.told('session.dead_letter')).toHaveLength(2);
  return { ...started, store };
}

const states = (store: string): unknown[] =>
  openDatabase(store)
    .prepare('SELECT number, state, error FROM unwedge_messages ORDER BY number')
    .all()
    .map((row) => [row['number'], row['state'], row['error']]);

describe.skipIf(!hasSqlite)('a dead letter', () => {
  it('[O-13] is sent again as a new message with the same content, once however often that is ordered', async () => {
    const seen: Message[] = [];
    const { gateway, session, told, store } = await startWithLetters((message) => void seen.push(message));
    const [one, other] = await Promise.all([
      session.sendAgain('agent:main-m1', note),
      session.sendAgain('agent:main-m1', note),
    ]);
    expect(one).toEqual({ ok: true, text: 'agent:main-m1 was sent again as agent:main-m3.' });
    expect(other).toEqual({ ok: false, text: 'It was sent again already, as agent:main-m3.' });
    expect(await session.sendAgain('agent:main-m1')).toEqual({
      ok: false,
      text: 'agent:main-m1 is no dead letter: it was sent again or dropped, or never was one.',
    });
    await gateway.stop();
    expect(seen).toEqual([{ kind: 'user', text: 'first', data: { n: 1 } }]);
    expect(told('operator.sent_again')).toMatchObject([
      { session: 'agent:main', message: 'agent:main-m1', as: 'agent:main-m3', ...note },
    ]);
    expect(states(store)).toEqual([
      [1, 'dropped', 'sent again as agent:main-m3'],
      [2, 'expired', null],
      [3, 'done', null],
    ]);
  });

  it('[O-13] is dropped for good', async () => {
    const { session, told, store } = await startWithLetters(() => undefined);
    expect(await session.drop('agent:main-m2', note)).toEqual({
      ok: true,
      text: 'The dead letter agent:main-m2 was dropped for good.',
    });
    expect(await session.drop('agent:main-m2', note)).toMatchObject({ ok: false });
    expect(await session.sendAgain('agent:main-m2', note)).toMatchObject({ ok: false });
    expect(told('operator.dropped')).toMatchObject([{ message: 'agent:main-m2', ...note }]);
    expect(states(store)).toMatchObject([
      [1, 'expired', null],
      [2, 'dropped', 'dropped by an operator'],
    ]);
  });

  it('[O-13] that cannot be read can only be dropped', async () => {
    const { session, store } = await startWithLetters(() => undefined);
    openDatabase(store).exec(`UPDATE unwedge_messages SET body = 'x', state = 'malformed' WHERE number = 1`);
    expect((await session.sendAgain('agent:main-m1')).text).toContain('cannot be read');
    expect(await session.drop('agent:main-m1')).toMatchObject({ ok: true });
  });

  it('[O-13] stays where it is while the session takes no message', async () => {
    const { gateway, session, store } = await startWithLetters(() => undefined);
    const stopped = gateway.stop();
    expect((await session.sendAgain('agent:main-m1')).ok).toBe(false);
    await stopped;
    expect(states(store)).toMatchObject([
      [1, 'expired', null],
      [2, 'expired', null],
    ]);
  });

  it('[O-13] stays where it is while the mailbox is full, and is sent again once there is room', async () => {
    const begun: (() => void)[] = [];
    const { session, store } = await startWithLetters((_message, { signal }) => {
      return new Promise<void>((resolve) => {
        begun.push(resolve);
        signal.addEventListener('abort', () => resolve());
      });
    });
    await session.send({ kind: 'user', text: 'third' });
    await expect.poll(() => begun).toHaveLength(1);
    await session.send({ kind: 'user', text: 'fourth' });
    expect(await session.sendAgain('agent:main-m1', note)).toEqual({
      ok: false,
      text: 'The session takes no message now: mailbox_full.',
    });
    expect(states(store)[0]).toEqual([1, 'expired', null]);
    begun[0]?.();
    await expect.poll(() => begun).toHaveLength(2);
    expect((await session.sendAgain('agent:main-m1', note)).ok).toBe(true);
  });

  it.each(['agent:main-m9', 'agent:main-m1x', 'other-m1', 'agent:main-m', 'm1'])(
    '[O-13] is none of the name %s',
    async (name) => {
      const { session, told } = await startWithLetters(() => undefined);
      expect((await session.drop(name)).text).toContain('is no dead letter');
      expect(told('operator.dropped')).toEqual([]);
      expect(() => session.drop('')).toThrow('message');
    },
  );

  it('[O-13] is none of a session that is not kept, or that another gateway has', async () => {
    const { store } = await startWithLetters(() => undefined);
    const second = await startGateway(store, () => undefined);
    expect((await second.session.sendAgain('agent:main-m1')).text).toBe('Another gateway has the session.');
    const loose = createGateway({ store: ':memory:', control: false });
    onTestFinished(() => loose.stop());
    const session = loose.session('s', { onMessage: () => undefined });
    await loose.start();
    expect((await session.drop('s-m1')).text).toContain('not kept here');
  });
});
