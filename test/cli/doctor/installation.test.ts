import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DoctorWorld } from '../../../cli/doctor/finding.ts';
import { checkInstallation } from '../../../cli/doctor/installation.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

it('[E-2] finds nothing wrong with an unwedge of a project that is started by its path, though it is not on PATH', async () => {
  const home = temporaryDirectory();
  const [own, bin] = [join(home, 'node_modules/unwedge'), join(home, 'node_modules/.bin')];
  for (const directory of [own, bin]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'unwedge', version: '1.0.0' }));
  const program = join(own, 'main.js');
  writeFileSync(program, '');
  const world = { nodeVersion: '22.13.0', env: { PATH: '/nonexistent' }, cwd: home, program } as unknown as DoctorWorld;
  const path = async () => (await checkInstallation(world)).find(({ id }) => id === 'path');
  expect(await path()).toMatchObject({ status: 'warning' });
  writeFileSync(join(bin, 'unwedge'), '');
  expect(await path()).toMatchObject({
    status: 'ok',
    summary: expect.stringContaining(join(bin, 'unwedge')) as string,
  });
});
