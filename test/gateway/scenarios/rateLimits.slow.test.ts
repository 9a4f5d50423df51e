import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { leaseShare } from '../../../src/calls/rates/rateBucket.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const program = fileURLToPath(new URL('../../fixtures/ratedGateway.mjs', import.meta.url));

/** A gateway in a process of its own; `line` is the next that it says. */
async function startOther(store: string, limit: number) {
  const child = spawn(process.execPath, [program, store, String(limit)], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  expect(await line()).toBe('ready');
  return { go: () => child.stdin.write('go\n'), line };
}

describe.skipIf(!hasSqlite)('processes that share a file', () => {
  it('[R-15] share a rate limit, no further beyond it than what each takes in advance', async () => {
    const limit = 320;
    const count = 3;
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const processes = await Promise.all(Array.from({ length: count }, () => startOther(store, limit)));
    for (const { go } of processes) go();
    const said = await Promise.all(processes.map(({ line }) => line()));
    const made = said.flatMap((text) => JSON.parse(text) as number[]).sort((one, other) => one - other);
    // Each of them alone would have made all that there is.
    expect(made.length).toBeGreaterThanOrEqual(limit - count * limit * leaseShare);
    for (const [from, at] of made.entries()) {
      const last = made.length - 1;
      const comesBack = (((made[last] as number) - at + 1) * limit) / 60_000;
      expect(last - from + 1).toBeLessThanOrEqual(limit + comesBack + count * limit * leaseShare);
    }
  });
});
