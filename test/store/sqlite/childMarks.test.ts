import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChildMark } from '../../../src/store/sqlite/childMarks.ts';
import { temporaryDirectory } from '../startStore.ts';

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
});
