import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canBeKept } from '../../reader/unopened.ts';
import { temporaryDirectory } from '../support/temporary.ts';

it('[G-2] a database is kept in a file, or in folders that are made with it, and never where a folder is', () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'kept.sqlite'), '');
  mkdirSync(join(root, 'folder'));
  expect(canBeKept(join(root, 'kept.sqlite'))).toBe(true);
  expect(canBeKept(join(root, 'new/deep/kept.sqlite'))).toBe(true);
  expect(canBeKept(join(root, 'folder'))).toBe(false);
  expect(canBeKept(join(root, 'kept.sqlite/below'))).toBe(false);
});
