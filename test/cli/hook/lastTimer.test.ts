import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../fixtures/lastTimer.mjs', import.meta.url));

it('[H-3] kills the child of the guard at the end that the host’s limit makes, and does nothing else that takes time', async () => {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program], { reject: false });
  expect(stderr).toContain('hook guard: It was not done before');
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: 'killed' });
});
