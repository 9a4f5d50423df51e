import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openReader } from '../../../reader/openReader.ts';
import {
  failed,
  hasSqlite,
  openDatabase,
  openingStore,
  startLostLog,
  startStore,
  storedCalls,
  temporaryDirectory,
} from '../startStore.ts';

const markIn = (path: string) =>
  JSON.parse(readFileSync(`${path}.log-mark`, 'utf8')) as { id: string; count: number; inode: number };

describe.skipIf(!hasSqlite)('a store whose log was deleted after a kill', () => {
  it('[I-5] [O-2] says when it is opened what may be lost, and has it on record once', async () => {
    const path = await startLostLog();
    const { store, clock, facts, lines } = await startStore({ path });
    await clock.advance(0);
    const [lost] = facts.of('store.log_lost');
    expect(lost?.reason).toContain(`${path}: what was acknowledged between 2026-01-01T00:00:00.000Z and`);
    expect(lost?.reason).toContain('its log (`events.sqlite-wal`) was deleted or damaged');
    expect(lines).toEqual([`warn: The log of the store was lost. ${lost?.reason}. Fix: ${lost?.fix}.`]);
    expect(await store.read({ category: 'store', limit: 9 })).toMatchObject([
      { type: 'log_lost', metadata: { reason: lost?.reason, fix: lost?.fix } },
    ]);
    expect(store.degraded).toBe(false);
    await store.close();
    expect(storedCalls(path)).toEqual(['call-0', 'call-1', null]);
    const next = await startStore({ path });
    await next.clock.advance(0);
    expect([next.facts.all, next.lines]).toEqual([[], []]);
  });

  it('[I-5] [O-2] is known to who reads it before, and stays known where somebody closes it in order meanwhile', async () => {
    const path = await startLostLog();
    const other = openDatabase(path);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    const reader = await openReader(path);
    expect(await reader.lostLog(0)).toMatchObject({ reason: expect.stringContaining('may be lost') as string });
    expect(await reader.recordNote({ type: 'operator.acknowledged', alert: 'kb' } as never, 0)).toMatchObject({
      ok: true,
    });
    expect(await reader.lostLog(0)).not.toHaveProperty('at');
    reader.close();
    expect((await startStore({ path })).lines).toHaveLength(1);
  });

  it('[O-2] enters a commit after each time the log was written back, and one a second, not each', async () => {
    const { store, clock, path } = await startStore();
    const keep = async (call: number): Promise<number> => {
      store.record(failed(call));
      await store.flush();
      return markIn(path).count;
    };
    const first = await keep(0);
    const before = await keep(1);
    for (let call = 2; call < 50; call++) expect(await keep(call)).toBe(before);
    expect(before - first).toBeLessThanOrEqual(1);
    await clock.advance(1000);
    expect(await keep(50)).toBe(before + 1);
    openDatabase(path).exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const written = await keep(51);
    expect(written).toBe(before + 2);
    // All that came after it was in the new log alone.
    const killed = `${temporaryDirectory()}/events.sqlite`;
    for (const suffix of ['', '.log-mark']) copyFileSync(path + suffix, killed + suffix);
    const { clock: later, facts } = await startStore({ path: killed });
    await later.advance(0);
    expect(facts.of('store.log_lost')).toHaveLength(1);
  });

  it('[O-2] is not what a copy of a live file is, and an orderly end leaves no mark', async () => {
    const { store, path } = await startStore();
    store.record(failed(1));
    await store.flush();
    const copy = `${temporaryDirectory()}/copy.sqlite`;
    openDatabase(path).exec(`VACUUM INTO '${copy}'`);
    expect((await startStore({ path: copy })).lines).toEqual([]);
    const second = await startStore({ path });
    second.store.record(failed(2));
    await second.store.close();
    expect([second.lines, existsSync(`${path}.log-mark`)]).toEqual([[], true]);
  });

  it('[O-2] is told once of a database without a log, as an earlier copy in another journal mode is', async () => {
    const live = `${temporaryDirectory()}/theirs.sqlite`;
    const path = `${temporaryDirectory()}/theirs.sqlite`;
    // Of somebody else, whose journal mode is not ours to change.
    openDatabase(live).exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)');
    const { store: past, clock: then } = await startStore({ path: live });
    past.record(failed(1));
    await past.flush();
    openDatabase(live).exec(`VACUUM INTO '${path}'`);
    await then.advance(1000);
    past.record(failed(2));
    await past.flush();
    copyFileSync(`${live}.log-mark`, `${path}.log-mark`);
    const { store, clock, facts, lines } = await startStore({ path });
    for (let call = 3; call < 6; call++) {
      store.record(failed(call));
      await store.flush();
    }
    await clock.advance(0);
    expect([facts.of('store.log_lost').length, lines.length, existsSync(`${path}.log-mark`)]).toEqual([1, 1, false]);
    await store.close();
    expect((await startStore({ path })).lines).toEqual([]);
  });

  it('[O-2] holds nothing up where the events of somebody else refuse it', async () => {
    const path = await startLostLog();
    const other = openDatabase(path);
    other.exec(
      `CREATE TRIGGER theirs BEFORE INSERT ON events WHEN NEW.category = 'store' BEGIN SELECT RAISE(ABORT, 'not ours'); END`,
    );
    other.close();
    const { store, clock, facts, lines } = await startStore({ path });
    store.record(failed(3));
    expect(await store.flush()).toBe(true);
    await clock.advance(0);
    expect(facts.of('store.log_lost')).toHaveLength(1);
    expect(lines).toEqual([expect.stringContaining('refuses a row'), expect.stringContaining('was lost')]);
    await store.close();
    expect(storedCalls(path)).toContain('call-3');
  });

  it('[O-2] is told by one of several that found it', async () => {
    const path = await startLostLog();
    const holder = openDatabase(path);
    holder.exec('BEGIN IMMEDIATE');
    const { started: first, opening } = openingStore({ path });
    const { started: second, opening: opensToo } = openingStore({ path });
    // Both have opened it, and wait.
    await first.clock.advance(0);
    await second.clock.advance(0);
    holder.exec('COMMIT');
    for (const { clock } of [first, second]) await clock.advance(1_000);
    const store = await opening;
    await opensToo;
    for (const { clock } of [first, second]) await clock.advance(0);
    expect([first, second].flatMap(({ facts }) => facts.of('store.log_lost'))).toHaveLength(1);
    expect(await store.read({ category: 'store', limit: 9 })).toHaveLength(1);
  });

  it.each(['{"id":"x","count":99,"at":1e300,"inode":1}', '{"id":"x","count":1e300,"at":1,"inode":1}', '[]', ''])(
    '[O-2] is not what a mark says that is none: %s',
    async (text) => {
      const path = await startLostLog();
      const { id, inode } = markIn(path);
      const [mine, theirs] = [`"id":"${id}"`, `"inode":${inode}`];
      writeFileSync(`${path}.log-mark`, text.replace('"id":"x"', mine).replace('"inode":1', theirs));
      const { store, lines } = await startStore({ path });
      store.record(failed(3));
      expect([await store.flush(), lines]).toEqual([true, []]);
    },
  );
});
