import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, main, startPlace } from '../startRun.ts';

/** Fails the first time as a service does that is away, and succeeds then; both print. */
function flaky(directory: string, printing = 'echo out'): string[] {
  const flag = join(directory, 'flag');
  return [
    '--',
    'sh',
    '-c',
    `${printing}; if [ -e ${flag} ]; then echo done; else : > ${flag}; echo HTTP 503 >&2; exit 1; fi`,
  ];
}

describe('unwedge run with more than one attempt', () => {
  it('[L-4] shows the output of the last one only, and says why there was another', async () => {
    const place = startPlace();
    const { code, stdout, stderr } = await place.run([
      '--attempts',
      '3',
      '--policy',
      'toolCall',
      ...flaky(place.directory),
    ]);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'out\ndone\n' });
    expect(stderr).toBe('unwedge: attempt 1 failed (transient: HTTP 503); attempt 2 of 3 in 100ms\n');
  });

  it('[L-4] shows all of it with --stream', async () => {
    const place = startPlace();
    const words = ['--stream', '--attempts', '2', '--policy', 'toolCall', ...flaky(place.directory)];
    const { stdout, stderr } = await place.run(words);
    expect(stdout.toString()).toBe('out\nout\ndone\n');
    expect(stderr).toMatch(/^HTTP 503\nunwedge: attempt 1 failed [^\n]+\n$/);
  });

  it('[L-4] is tried once unless told otherwise', async () => {
    const place = startPlace();
    const { code, stdout } = await place.run(['--policy', 'toolCall', ...flaky(place.directory)]);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: 'out\n' });
  });

  it('[L-4] does not repeat what the command answered', async () => {
    const { code, stdout } = await startPlace().run(['--attempts', '3', '--', 'sh', '-c', 'echo out; exit 3']);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 3, stdout: 'out\n' });
  });

  it('[L-4] gives every one the prompt', async () => {
    const place = startPlace();
    const words = ['--prompt-file', '-', '--attempts', '2', '--policy', 'toolCall', ...flaky(place.directory, 'cat')];
    const { stdout, stderr } = await place.run(words, 'what it is asked\n');
    expect(stdout.toString()).toBe('what it is asked\ndone\n');
    expect(stderr).toContain('attempt 1 failed');
  });

  it('[L-4] [I-3] holds more than fits into memory, and leaves no file', async () => {
    const place = startPlace();
    const words = ['--attempts', '2', '--', process.execPath, fixture('flood.mjs'), '3'];
    const { stdout } = await place.run(words);
    expect(stdout.toString()).toBe(`first\n${'x'.repeat(3 * 1024 * 1024)}last\n`);
    expect(place.left()).toEqual(['runs.sqlite']);
  });
});

describe.skipIf(process.platform !== 'linux')('unwedge run between a fast writer and a slow reader', () => {
  it('[S-7] [L-4] needs little memory for 200 MB', async () => {
    const run = startPlace().start(['--', 'sh', '-c', 'head -c 200000000 /dev/zero; cat >/dev/null'], { unread: true });
    let bytes = 0;
    await new Promise<void>((resolve) => {
      run.child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes === 200_000_000) resolve();
        run.child.stdout.pause();
        setImmediate(() => run.child.stdout.resume());
      });
    });
    const [, peakKb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${run.pid}/status`, 'utf8')) ?? [];
    expect(Number(peakKb)).toBeLessThan(150_000);
    run.child.stdin.end();
    expect((await run.ended).code).toBe(0);
  });
});

describe('unwedge run whose output is lost', () => {
  it.skipIf(!existsSync('/dev/full'))('[L-4] does not end with 0 when it cannot be written', () => {
    const { directory, db } = startPlace();
    const full = openSync('/dev/full', 'w');
    const env = { PATH: process.env['PATH'], HOME: directory, UNWEDGE_DB: db };
    const words = [main, 'run', '--', 'echo', 'out'];
    const { status, stderr } = spawnSync(process.execPath, words, { env, stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    expect(status).toBe(125);
    expect(stderr.toString()).toMatch(/^unwedge: the output is not complete: ENOSPC[^\n]*\n$/);
  });

  it('[L-4] does not end with 0 when it could not be held back', () => {
    const { directory, db } = startPlace();
    const env = { PATH: process.env['PATH'], HOME: directory, UNWEDGE_DB: db, TMPDIR: join(directory, 'missing') };
    const words = [main, 'run', '--attempts', '2', '--', process.execPath, '-e', 'console.log("x".repeat(3e6))'];
    const { status, stderr } = spawnSync(process.execPath, words, { env });
    expect(status).toBe(125);
    expect(stderr.toString()).toContain('the output is not complete');
  });
});
