import { describe, expect, it } from 'vitest';
import { type Chunk, lazyEntry, refuseShared, requiredPackage } from '../scripts/lazyEntry.mjs';

const waits = (file: string): boolean => file.includes('late');

const chunk = (fileName: string, others: Partial<Chunk> = {}): Chunk => ({
  fileName,
  imports: [],
  dynamicImports: [],
  isEntry: false,
  ...others,
});

describe('the entry for Node', () => {
  const entry = lazyEntry(
    [
      'import { a as data } from "./base.js";',
      'import { b as make, c } from "./late.js";',
      'export { c, data, make as create };',
    ].join('\n'),
    waits,
  );

  it('[U-1] loads a part that waits when one of its functions is called', () => {
    expect(entry).toContain('function make(...given) {\n\treturn require("./late.js").b(...given);\n}');
    expect(entry).toContain('function c(...given) {\n\treturn require("./late.js").c(...given);\n}');
    expect(entry).not.toMatch(/import .*late/);
  });

  it('[U-1] imports the others, and exports the same names', () => {
    expect(entry).toContain('import { a as data } from "./base.js";');
    expect(entry).toMatch(/^export \{ c, data, make as create \};$/m);
  });
});

describe('a package that is required', () => {
  it('[U-1] has each name that a part imports of it once', () => {
    const parts = [
      'import { assign, setup as s } from "#x";',
      'import { assign } from "#x";',
      'import { y } from "y";',
    ];
    const module = requiredPackage(
      'x',
      parts.map((code) => ({ code })),
    );
    expect(module).toContain('export const { assign, setup } = require("x");');
  });
});

describe('a part that waits', () => {
  const late = chunk('late.js', { imports: ['base.js'], dynamicImports: ['store.js'] });
  const store = chunk('store.js', { imports: ['late.js'] });
  const index = chunk('index.js', { isEntry: true, imports: ['late.js', 'base.js'] });

  it('[U-1] may be what the parts it loads itself stand on', () => {
    expect(() => refuseShared([index, late, store, chunk('base.js')], waits)).not.toThrow();
  });

  it('[U-1] is refused where another entry loads it', () => {
    const other = chunk('other.js', { isEntry: true, imports: ['base.js', 'late.js'] });
    const refused = 'other.js loads late.js, which is to wait for a call';
    expect(() => refuseShared([index, late, store, other, chunk('base.js')], waits)).toThrow(refused);
  });

  it('[U-1] is refused where something loads it later that stands without it', () => {
    const base = chunk('base.js', { dynamicImports: ['store.js'] });
    const refused = 'store.js loads late.js, which is to wait for a call';
    expect(() => refuseShared([index, late, store, base], waits)).toThrow(refused);
  });
});
