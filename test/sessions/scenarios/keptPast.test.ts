import { describe, expect, it } from 'vitest';
import { earlier, startKept, withPast } from '../../support/keptSession.ts';

describe('the past of a kept session', () => {
  it('[G-6] is not read when it is opened; once when its history is asked for', async () => {
    const { session, store } = await startKept(() => undefined, {}, withPast());
    expect(store.reads).toBe(0);
    expect([session.history, session.history]).toEqual([[earlier], [earlier]]);
    expect(store.reads).toBe(1);
  });

  it('[G-6] is read before its next message, which is numbered after it and known by its key', async () => {
    const { session, clock, store } = await startKept(() => undefined, {}, withPast());
    expect(await session.send({ kind: 'user' }, { key: 'k' })).toMatchObject({
      reason: 'duplicate',
      id: 'agent:main-m4',
    });
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    expect([store.writes, store.reads]).toEqual([['post 5', 'take 5', 'done 5'], 1]);
    expect(session.history.map(({ turn }) => turn)).toEqual([7, 8]);
  });

  it('[G-6] is read when it is opened while a message waits', async () => {
    const store = withPast();
    const waiting = { number: 4, message: { kind: 'user' }, key: undefined, at: 0, deliveries: 0 };
    store.recovered = { ...store.recovered, waiting: [waiting] };
    const { session, clock } = await startKept(() => undefined, {}, store);
    await store.commitAll(clock);
    expect(session.history.map(({ turn }) => turn)).toEqual([7, 8]);
  });

  it('[G-6] [I-5] that cannot be read holds up no message, takes no number twice and is not forgotten', async () => {
    const store = withPast();
    store.isUnreadable = true;
    const { session, clock } = await startKept(() => undefined, {}, store);
    expect(session.history).toEqual([]);
    for (let count = 0; count < 64; count++) void session.send({ kind: 'user' });
    await store.commitAll(clock);
    const number = Math.floor(clock.wallNow() / 1000);
    expect(store.writes[0]).toBe(`post ${number + 1}`);
    expect(store.writes.filter((write) => write.startsWith('forget'))).toEqual([]);
    store.isUnreadable = false;
    expect(session.history).toHaveLength(64);
  });

  it('[G-6] is read at the next look when the first one met a store that was out of order', async () => {
    const store = withPast();
    store.isUnreadable = true;
    const { session } = await startKept(() => undefined, {}, store);
    expect(session.history).toEqual([]);
    store.isUnreadable = false;
    expect(session.history).toEqual([earlier]);
  });
});
