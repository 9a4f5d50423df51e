import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsIn, forgets, seeEvents, seenEvents } from '../../reader/forget.ts';
import { insertEvent } from '../../src/store/sqlite/eventLog.ts';
import { doRow, doWork } from '../../src/store/sqlite/fileTables.ts';
import { prepareSchema } from '../../src/store/sqlite/schema.ts';
import { step } from '../../src/store/work.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../store/startStore.ts';

const order = { order: 'forget', session: 'gone', message: '', note: {}, at: 0, dead: new Set<string>() } as const;
const of = (session: string): string => JSON.stringify({ session });

function start() {
  const database = openDatabase(join(temporaryDirectory(), 'gateway.sqlite'));
  const schema = prepareSchema(database, 'FULL');
  const events = eventsIn(schema.eventTable, seenEvents);
  const record = (...sessions: string[]): void => {
    for (const each of sessions) insertEvent(database, schema.eventTable, 0, 'session', 'started', of(each));
  };
  const see = () => doRow(database, seeEvents(schema.eventTable, order));
  const erase = () =>
    doWork(forgets(order, [events], [schema.eventTable, true]), { insert: () => undefined }, database, schema);
  const left = () =>
    database
      .prepare(`SELECT metadata FROM ${schema.eventTable}`)
      .all()
      .map(({ metadata }) => metadata);
  return { database, events, record, see, erase, left };
}

describe.skipIf(!hasSqlite)('the events of a session that is forgotten, in a file', () => {
  it('[G-18] are found before it is locked; those that came since are erased with them, and none of others', () => {
    const { record, see, erase, left } = start();
    record('gone', 'other', 'gone', 'other');
    see();
    record('gone', 'other');
    expect(erase()).toMatchObject({ ok: true, text: 'Of gone was erased: events: 3.' });
    expect(left()).toEqual([of('other'), of('other'), of('other')]);
  });

  it('[G-18] are found where there was none, and not looked for where another one took the place of one that was seen', () => {
    const { database, record, see, erase, left } = start();
    see();
    record('gone', 'gone', 'other');
    erase();
    expect(left()).toEqual([of('other')]);
    record('gone');
    database.exec('DROP TABLE unwedge_seen');
    see();
    database.exec('DELETE FROM events WHERE id = (SELECT max(id) FROM events)');
    record('another');
    expect(erase()).toMatchObject({ ok: false });
    expect(left()).toEqual([of('other'), of('another')]);
  });

  it('[G-18] [I-1] are all that is read while it is locked, with those that came since', () => {
    const { database, events, see } = start();
    see();
    const text = `EXPLAIN QUERY PLAN ${events.erased.text}`;
    const plan = doRow(database, step({ ...events.erased, text }, 'gone', {})).map(({ detail }) => String(detail));
    expect(plan.filter((detail) => detail.startsWith('SCAN t'))).toEqual([]);
    expect(plan.filter((detail) => detail.startsWith('SEARCH t'))).toHaveLength(2);
  });
});
