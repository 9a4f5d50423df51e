import { describe, expect, it } from 'vitest';
import type { MailReceiver, SessionMail } from '../../../src/sessions/sessionMail.ts';
import { deferred } from '../../support/deferred.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startKept } from '../../support/keptSession.ts';
import { startSession } from '../../support/startSession.ts';

describe('a kept session that another runtime is to have', () => {
  it('[N-2] is given to another runtime while it is idle, told of, and taken again when that is done', async () => {
    const store = new HeldStore();
    const released = deferred<void>();
    store.releasing = released.promise;
    const { session, clock, facts } = startSession({ onMessage: () => 'done' }, undefined, { kept: true });
    let again = 0;
    await session.open(store, { again: () => again++, ask: () => Promise.resolve() });
    session.giveBack('b');
    session.giveBack('b');
    expect(store.writes).toEqual(['release']);
    expect(facts.of('session.given_back')).toEqual([expect.objectContaining({ session: 'agent:main', to: 'b' })]);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    // Nobody else could have it yet: to ask now would have it back.
    expect([session.heldElsewhere, session.unclaimed, again]).toEqual([true, false, 0]);
    released.resolve();
    await clock.settle();
    expect([session.unclaimed, again]).toEqual([true, 1]);
    await session.open(store);
    const acceptance = session.send({ kind: 'user' });
    await store.commitAll(clock);
    expect(await acceptance).toMatchObject({ accepted: true, durable: true });
  });

  it('[N-2] [N-3] is not given away while a message waits, its turn is under way, mail is being taken, or it stops', async () => {
    const store = new HeldStore();
    const turn = deferred<void>();
    const { session, clock, facts } = await startKept(() => turn.promise, {}, store);
    void session.send({ kind: 'user' });
    session.giveBack('b');
    await store.commitAll(clock);
    session.giveBack('b');
    expect(store.writes).not.toContain('release');
    turn.resolve();
    await store.commitAll(clock);
    session.giveBack('b');
    expect(store.writes.at(-1)).toBe('release');
    expect(facts.of('session.given_back')).toHaveLength(1);

    const receivers: MailReceiver[] = [];
    const mail: SessionMail = {
      post: () => Promise.resolve({ mailed: 'not_kept' }),
      serve: (_, receiver) => void receivers.push(receiver),
      look: () => Promise.resolve(),
      oldest: [],
    };
    const mailed = Object.assign(new HeldStore(), { mail });
    const receiving = await startKept(() => 'done', {}, mailed);
    receivers[0]?.receive([{ mail: 1, message: { kind: 'user' }, key: undefined }]);
    receiving.session.giveBack('b');
    expect(mailed.writes).toEqual(['take mail 1']);

    const stopping = await startKept(() => 'done');
    stopping.session.stop();
    stopping.session.giveBack('b');
    expect(stopping.store.writes).toEqual([]);
  });
});
