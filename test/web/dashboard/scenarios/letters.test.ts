import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { MessageHandler } from '../../../../src/sessions/sessionOptions.ts';
import { orderAboutLetter } from '../../../../reader/sqlite/letterBox.ts';
import { openReader } from '../../../../reader/openReader.ts';
import { hasSqlite, openDatabase } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { sourceOf } from '../startDashboard.ts';

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
const note = { by: 'anna', why: 'its server is back' };

/** A database with two messages that waited too long, which a gateway has found out that runs or has stopped. */
async function startWithLetters({ runs }: { runs: boolean }) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const start = async (onMessage: MessageHandler) => {
    const gateway = createGateway({ store: path, logger: false });
    const session = gateway.session('agent:main', { onMessage });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    return { gateway, session };
  };
  const before = await start((_message, { signal }) => {
    return new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  await before.session.send({ kind: 'user', text: `first, with ${secret}` });
  await before.session.send({ kind: 'user', text: 'second' });
  await before.gateway.stop();
  openDatabase(path).exec('UPDATE unwedge_messages SET posted_at = 1');
  const seen: (string | undefined)[] = [];
  const { gateway } = await start(({ text }) => seen.push(text));
  if (!runs) await gateway.stop();
  return { path, seen, start, gateway };
}

const sendAgain = (path: string, target: string) =>
  sourceOf(path).order({ order: 'send_again', name: 'agent:main', target, ...note });

describe.skipIf(!hasSqlite)('dead letters of a database', () => {
  it('[O-13] are listed, the newest first, without secrets', async () => {
    const { path } = await startWithLetters({ runs: false });
    const letters = await sourceOf(path).letters();
    expect(letters).toMatchObject([
      { id: 'agent:main-m2', session: 'agent:main', kind: 'user', reason: 'expired', text: 'second', canSend: true },
      { id: 'agent:main-m1', deliveries: 1, postedAt: 1 },
    ]);
    expect(letters[1]?.text).toMatch(/^first, with /);
    expect(JSON.stringify(letters)).not.toContain(secret);
    expect(await sourceOf(path).letters('other')).toEqual([]);
  });

  it('[O-13] are sent again and dropped by the gateway that has the session', async () => {
    const { path, seen, gateway } = await startWithLetters({ runs: true });
    expect(await sendAgain(path, 'agent:main-m2')).toEqual({
      ok: true,
      text: 'agent:main-m2 was sent again as agent:main-m3.',
    });
    const drop = { order: 'drop', name: 'agent:main', target: 'agent:main-m1', ...note } as const;
    expect(await sourceOf(path).order(drop)).toEqual({
      ok: true,
      text: 'The dead letter agent:main-m1 was dropped for good.',
    });
    expect((await sourceOf(path).order(drop)).text).toMatch(/^It was not done: agent:main-m1 is no dead letter/);
    await gateway.stop();
    expect(seen).toEqual(['second']);
    expect(await sourceOf(path).letters()).toEqual([]);
  });

  it('[O-13] without a gateway are delivered at its next start, once', async () => {
    const { path, start } = await startWithLetters({ runs: false });
    expect(await sendAgain(path, 'agent:main-m2')).toEqual({
      ok: true,
      text: 'agent:main-m2 was sent again as agent:main-m3; it is delivered when a gateway that has the session starts.',
    });
    expect((await sendAgain(path, 'agent:main-m2')).text).toContain('is no dead letter');
    expect(await sourceOf(path).letters()).toMatchObject([{ id: 'agent:main-m1' }]);
    const reader = await openReader(path);
    const events = await reader.events({ category: 'operator', limit: 10 });
    reader.close();
    expect(events).toMatchObject([{ type: 'sent_again', metadata: { message: 'agent:main-m2', ...note } }]);
    const seen: unknown[] = [];
    const { gateway, session } = await start(({ text }) => seen.push(text));
    const last = await session.send({ kind: 'user', text: 'third' });
    if (last.accepted) await last.processed;
    await gateway.stop();
    expect(seen).toEqual(['second', 'third']);
  });

  it('[O-13] are left alone while a runtime that may live has the session', async () => {
    const { path } = await startWithLetters({ runs: true });
    const order = {
      order: 'drop',
      session: 'agent:main',
      message: 'agent:main-m1',
      note,
      at: 5,
      dead: new Set('x'),
    } as const;
    expect((await orderAboutLetter(path, order)).text).toContain('runs and does not answer');
    const owner = openDatabase(path).prepare('SELECT owner FROM unwedge_sessions').get()?.['owner'];
    expect(await orderAboutLetter(path, { ...order, dead: new Set([String(owner)]) })).toMatchObject({ ok: true });
    expect((await orderAboutLetter(path, { ...order, session: 'other' })).text).toBe('No session other is kept there.');
  });
});
