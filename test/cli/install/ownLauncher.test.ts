import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { lastingScript } from '../../../cli/install/ownLauncher.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

it('[E-4] starts what pnpm installed by the path that stays when it is updated, where that leads to the same', () => {
  const root = temporaryDirectory();
  const kept = join(root, 'my app/node_modules/.pnpm/unwedge@1.2.3_pg@8/node_modules/unwedge');
  const script = join(kept, 'dist/cli/main.js');
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, '');
  expect(lastingScript(script)).toBe(script);
  symlinkSync(kept, join(root, 'my app/node_modules/unwedge'));
  expect(lastingScript(script)).toBe(join(root, 'my app/node_modules/unwedge/dist/cli/main.js'));
});
