import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChildMark } from '../../../src/store/sqlite/childMarks.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../startStore.ts';

/** The locks that this process has on a file, as Linux lists them. */
const locksOn = (path: string): readonly string[] =>
  readFileSync('/proc/locks', 'latin1')
    .split('\n')
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(path).ino} `))
    .map((line) => line.replace(/^\d+: /, ''));

describe('the mark of a process that has children on record', () => {
  it.each([
    ['is not made beside a file that is no database', 'root:x:0:0:root:/root:/bin/sh\n', 0],
    ['is made beside a database', 'SQLite format 3\0', 1],
  ])('[I-5] %s', (_, text, marks) => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, text);
    createChildMark(path).leave({ pid: process.pid, start: 'now' });
    const files = readdirSync(dirname(path));
    expect(files.filter((name) => name.startsWith('file-children-'))).toHaveLength(marks);
  });

  // Without them another program takes itself for the last one that has the database open, and deletes its log at the end.
  it.skipIf(!hasSqlite || !existsSync('/proc/locks'))('[I-5] [O-2] takes no lock off a database that is open', () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    const database = openDatabase(path);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('CREATE TABLE kept (word TEXT)');
    const before = locksOn(path);
    createChildMark(path).leave({ pid: process.pid, start: 'now' });
    expect(before).toHaveLength(1);
    expect(locksOn(path)).toEqual(before);
  });
});
