import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const fixture = fileURLToPath(new URL('../../fixtures/abortedGateway.mjs', import.meta.url));

it('[I-3] [R-8] a process ends once the caller of a hung call has aborted it, not after the grace of its work', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fixture]);
  const { kind, afterMs } = JSON.parse(stdout) as { readonly kind: string; readonly afterMs: number };
  expect(kind).toBe('cancelled');
  // The grace is 5 s.
  expect(afterMs).toBeLessThan(4000);
});
