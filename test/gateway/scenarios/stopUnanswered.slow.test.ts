import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startPostgresProxy } from '../../support/postgresProxy.ts';
import { hasPostgres, postgresServer } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';

const program = fileURLToPath(new URL('../../fixtures/stoppedGateway.mjs', import.meta.url));

/** It waits 5 s for its database; a busy machine is given more. */
const inTimeMs = 15_000;

/** A gateway in a process of its own, behind a proxy. */
async function startGateway(until: 'starting' | 'ready') {
  const { url } = await newSchema();
  const { port } = await postgresServer();
  const proxy = await startPostgresProxy(port);
  const child = spawn(process.execPath, [program, url.replace(`:${port}/`, `:${proxy.port}/`)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines, { timeout: 30_000 }).toContain(until);
  return { child, lines, proxy };
}

describe.skipIf(!hasPostgres)('a gateway whose database does not answer', { timeout: 90_000 }, () => {
  it.each([
    ['to_server', 'ready'],
    ['to_client', 'ready'],
    ['both', 'ready'],
    ['both', 'starting'],
  ] as const)(
    '[N-6] [N-7] stops, and ends, in time when nothing comes through %s while it is %s',
    async (cut, until) => {
      const { child, lines, proxy } = await startGateway(until);
      proxy.hold(cut);
      const at = performance.now();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      const ms = performance.now() - at;
      console.log(`ended ${Math.round(ms)} ms after SIGTERM`);
      expect(ms).toBeLessThan(inTimeMs);
      expect(lines).toContain('stopped');
    },
  );
});
