import { expect, it } from 'vitest';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { Mailed, SessionMail } from '../../../src/sessions/sessionMail.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startKept } from '../../support/keptSession.ts';

it('[N-3] takes what is sent while its earlier mail is on its way, each message once and in order, when it has become the owner', async () => {
  const posts: ((mailed: Mailed) => void)[] = [];
  const mail: SessionMail = {
    post: () => new Promise((answer) => posts.push(answer)),
    serve: () => undefined,
    look: () => Promise.resolve(),
    oldest: [],
  };
  const store = Object.assign(new HeldStore(), { mail, handsOver: true, held: 'other' as string | undefined });
  const { session, clock } = await startKept(() => 'done', {}, store);
  const mailed = session.send({ kind: 'user', text: 'mailed' });
  await clock.settle();
  expect(posts).toHaveLength(1);
  store.held = undefined;
  await session.open(store);
  // One that asked for a place behind the others would go round with them for good: this test would end when the memory is full.
  const sent: Promise<Acceptance>[] = ['one', 'two', 'three'].map((text) => session.send({ kind: 'user', text }));
  await clock.settle();
  expect(store.writes).toEqual([]);
  posts[0]?.({ mailed: 'kept', mail: 1 });
  await clock.settle();
  expect(await mailed).toMatchObject({ accepted: true, id: 'agent:main-x1' });
  await store.commitAll(clock);
  expect(await Promise.all(sent)).toMatchObject([1, 2, 3].map((number) => ({ id: `agent:main-m${number}` })));
  expect(session.waiting).toBe(0);
});
