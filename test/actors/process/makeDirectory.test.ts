import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectory } from '../../../src/actors/process/makeDirectory.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describe('a directory', () => {
  it('is made with those above it, for its owner alone; one that is there stays', () => {
    const path = join(temporaryDirectory(), 'a', 'b');
    makeDirectory(path);
    makeDirectory(path);
    expect([path, join(path, '..')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('[I-3] that cannot be made is refused at once', () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(() => makeDirectory(join(file, 'below'))).toThrow('ENOTDIR');
  });

  it.skipIf(process.platform !== 'linux')('[I-3] is refused at once where its parent takes none', () => {
    expect(() => makeDirectory('/proc/nope/below')).toThrow('ENOENT');
  });
});
