import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLeftRuns } from '../../../src/store/sqlite/leftRuns.ts';
import { temporaryDirectory } from '../startStore.ts';

describe('the marks of runs that have left', () => {
  it.each(['', 'missing.sqlite'])('[I-3] are not made where there is no database: %j', (name) => {
    const path = join(temporaryDirectory(), name);
    createLeftRuns(path).mark('one');
    expect(existsSync(`${path}-left-one`)).toBe(false);
  });

  it('[I-5] are not made beside a file that is no database', () => {
    const path = join(temporaryDirectory(), 'passwd');
    writeFileSync(path, 'root:x:0:0:root:/root:/bin/sh\n');
    createLeftRuns(path).mark('one');
    expect(existsSync(`${path}-left-one`)).toBe(false);
  });

  it('[G-11] stand beside a database until they are forgotten', () => {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    writeFileSync(path, '');
    const runs = createLeftRuns(path);
    runs.mark('one');
    expect(runs.has('one')).toBe(true);
    runs.forget('one');
    expect(existsSync(`${path}-left-one`)).toBe(false);
  });
});
