import { describe, expect, it } from 'vitest';
import { SessionFeed } from '../../../web/serve/sessionFeed.ts';

describe('the events of sessions', () => {
  it('[E-1] go to the readers of their session alone, in order', async () => {
    const feed = new SessionFeed();
    const reader = feed.read('a');
    feed.tell('a', { type: 'one', at: 1 });
    feed.tell('b', { type: 'other', at: 1 });
    feed.tell('a', { type: 'two', at: 1 });
    const seen = [await reader.next(), await reader.next()].map(({ value }) => value?.data.type);
    expect(seen).toEqual(['one', 'two']);
    expect(reader.missed).toBe(false);
  });

  it('[E-1] are given again after an id, and those of another process are said to be missed', async () => {
    const feed = new SessionFeed();
    const first = feed.read('a');
    for (const type of ['one', 'two', 'three']) feed.tell('a', { type, at: 1 });
    const { value } = await first.next();
    const again = feed.read('a', value?.id);
    expect([(await again.next()).value?.data.type, again.missed]).toEqual(['two', false]);
    expect(feed.read('a', '00000000-1').missed).toBe(true);
    expect(feed.read('a', 'no id at all').missed).toBe(true);
    expect(feed.read('a', `${value?.id.split('-')[0]}-99-1-0`).missed).toBe(true);
  });

  it('[E-1] are kept up to a number, and what is gone by then is said to be missed', async () => {
    const feed = new SessionFeed();
    const first = feed.read('a');
    feed.tell('a', { type: 'one', at: 1 });
    const { value } = await first.next();
    await first.return();
    for (let count = 0; count <= 10_000; count++) feed.tell('b', { type: 'other', at: 1 });
    expect(feed.read('a', value?.id).missed).toBe(true);
  });

  it('[E-1] let a reader go that does not keep up, and end with the feed', async () => {
    const feed = new SessionFeed();
    const slow = feed.read('a');
    for (let count = 0; count <= 1000; count++) feed.tell('a', { type: 'one', at: 1 });
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    expect(feed.readers).toBe(0);
    const waiting = feed.read('a');
    const next = waiting.next();
    feed.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await feed.read('a').next()).toEqual({ done: true, value: undefined });
  });

  it('[E-1] [N-2] end where their session is lost, behind what tells so; those of others go on', async () => {
    const feed = new SessionFeed();
    const [lost, other] = [feed.read('a'), feed.read('b')];
    feed.tell('a', { type: 'session.taken_over', at: 1 });
    feed.leave('a');
    expect((await lost.next()).value?.data.type).toBe('session.taken_over');
    expect(await lost.next()).toEqual({ done: true, value: undefined });
    expect(feed.readers).toBe(1);
    await other.return();
  });
});
