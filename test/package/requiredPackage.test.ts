import { expect, it } from 'vitest';
import { requiredPackage } from '../../scripts/requiredPackage.mjs';

it('[U-1] a package that is required has each name that a part imports of it once', () => {
  const parts = ['import { assign, setup as s } from "#x";', 'import { assign } from "#x";', 'import { y } from "y";'];
  const module = requiredPackage(
    'x',
    parts.map((code) => ({ code })),
  );
  expect(module).toContain('export const { assign, setup } = require("x");');
});
