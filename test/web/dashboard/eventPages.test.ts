import { describe, expect, it, onTestFinished } from 'vitest';
import { chainOf, type EventPage, type EventSearch, findEvents } from '../../../web/dashboard/eventPages.ts';
import { openReader } from '../../../reader/openReader.ts';
import { failed, hasSqlite, startStore, told } from '../../store/startStore.ts';

async function start(count = 25) {
  const { store, path } = await startStore();
  const record = async (from: number, to: number): Promise<void> => {
    for (let call = from; call < to; call++) {
      store.record(failed(call, { integration: call % 10 === 3 ? 'rare' : 'kb' }));
    }
    await store.flush();
  };
  await record(0, count);
  const reader = await openReader(path);
  onTestFinished(() => reader.close());
  const find = (search: Partial<EventSearch> = {}, mostIds?: number): Promise<EventPage> =>
    findEvents(reader, { limit: 10, ...search }, mostIds);
  return { store, reader, record, find };
}

const ids = ({ events }: EventPage): readonly number[] => events.map(({ id }) => id);

describe.skipIf(!hasSqlite)('pages of events', () => {
  it('[O-13] give every event once, newest first, whatever is recorded between two of them', async () => {
    const { find, record } = await start();
    const seen: number[] = [];
    let page = await find();
    const { newest } = page;
    seen.push(...ids(page));
    for (let round = 0; page.older !== undefined; round++) {
      await record(100 + round, 101 + round);
      page = await find({ before: page.older });
      seen.push(...ids(page));
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index));
    const later = await find({ after: newest });
    expect([ids(later), later.newest]).toEqual([[27, 26], 27]);
  });

  it('[O-13] go on to what is new in steps where more has come than a page holds, and lose none', async () => {
    const { find, record } = await start(1);
    await record(1, 25);
    const first = await find({ after: 1 });
    const second = await find({ after: first.newest });
    const third = await find({ after: second.newest });
    expect([...ids(third), ...ids(second), ...ids(first)]).toEqual(Array.from({ length: 24 }, (_, at) => 25 - at));
    expect(third.newest).toBe(25);
  });

  it('[O-13] look at so many ids at a time, and say where to go on, also where nothing was found', async () => {
    const { find } = await start();
    const first = await find({ integration: 'rare' }, 10);
    expect([ids(first), first.older]).toEqual([[24], 16]);
    const second = await find({ integration: 'rare', before: 16 }, 5);
    expect([ids(second), second.older]).toEqual([[14], 11]);
    const third = await find({ integration: 'rare', before: 11 }, 5);
    expect([ids(third), third.older]).toEqual([[], 6]);
    const last = await find({ integration: 'rare', before: 6 }, 5);
    expect([ids(last), last.older]).toEqual([[4], undefined]);
  });
});

describe.skipIf(!hasSqlite)('what led to an event', () => {
  async function startChain() {
    const { store, path } = await startStore();
    const opened = { type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'timeout' } as const;
    const failure = { kind: 'timeout', message: 'silent', attempt: 1, at: 1 } as const;
    store.record(failed(1, { integration: 'kb' }));
    store.record(failed(2, { integration: 'mail' }));
    store.record(told({ ...opened, failures: [{ ...failure, call: 'call-1' }] }));
    store.record(told({ type: 'session.turn_started', session: 's', turn: 4, message: 's-m4', kind: 'user' }));
    store.record(told({ type: 'session.watchdog_fired', session: 's', turn: 4, rule: 'turn', limitMs: 5 }));
    store.record(told({ type: 'child.started', child: 'session:s', incarnation: 2 }));
    store.record(told({ type: 'session.turn_started', session: 's', turn: 5, message: 's-m5', kind: 'user' }));
    await store.flush();
    const reader = await openReader(path);
    onTestFinished(() => reader.close());
    const chain = async (id: number) => {
      const found = await chainOf(reader, id);
      const links = (side: 'before' | 'after') => found?.[side].map((each) => [each.id, each.tie]);
      return { before: links('before'), after: links('after') };
    };
    return { chain };
  }

  it('[O-13] [O-9] is the failure that an opened circuit names, and nothing of another integration', async () => {
    const { chain } = await startChain();
    expect(await chain(3)).toEqual({ before: [[1, 'cause']], after: [] });
    expect(await chain(1)).toEqual({ before: [], after: [[3, 'cause']] });
    expect(await chain(2)).toEqual({ before: [], after: [] });
  });

  it('[O-13] is what came before in the same turn, and what is near in time says that it is no more', async () => {
    const { chain } = await startChain();
    expect(await chain(5)).toEqual({ before: [[4, 'turn']], after: [[6, 'session']] });
  });

  it('[O-13] is unknown of an event that is not there', async () => {
    const { chain } = await startChain();
    expect(await chain(99)).toEqual({ before: undefined, after: undefined });
  });
});
