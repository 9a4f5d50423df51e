import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../../src/index.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

/** A command whose prompts lie in a directory of the test's own. */
async function startCommand(args: readonly string[], options: Partial<SubprocessOptions> = {}) {
  const temporary = temporaryDirectory();
  vi.stubEnv('TMPDIR', temporary);
  const gateway = createGateway();
  onTestFinished(async () => {
    await gateway.stop();
    vi.unstubAllEnvs();
  });
  const cli = gateway.subprocess('cli', { command: process.execPath, args, graceMs: 100, ...options });
  await gateway.start();
  return { gateway, cli, left: () => readdirSync(temporary) };
}

const readPrompt = "const fs = require('fs'); console.log(fs.readFileSync(process.argv[1], 'utf8'), process.argv[1])";

describe('the prompt of a run', () => {
  it('[S-5] of 10 MB arrives whole on stdin', async () => {
    const { cli } = await startCommand([
      '-e',
      'let n = 0; process.stdin.on("data", (d) => { n += d.length }).on("end", () => console.log(n))',
    ]);
    const outcome = await cli.call({ prompt: 'x'.repeat(10 * 1024 * 1024) });
    expect(outcome).toMatchObject({ ok: true, value: { stdout: { text: `${10 * 1024 * 1024}\n` } } });
  });

  it('[S-5] is read from its private file, which is gone after the run', async () => {
    const { cli, left } = await startCommand(['-e', readPrompt, '{promptFile}']);
    const outcome = await cli.call({ prompt: 'say hi' });
    const text = outcome.ok ? outcome.value.stdout.text : '';
    expect(text).toMatch(/^say hi .*unwedge-prompt-/);
    expect(left()).toEqual([]);
  });

  it('[S-5] leaves no file after a failure, each attempt with its own', async () => {
    const retry = { backoff: { kind: 'constant', delayMs: 1, jitter: { kind: 'none' } } } as const;
    const { cli, left } = await startCommand([fixture('fail.mjs'), '1', 'HTTP 503', '{promptFile}'], {
      policy: { retry },
    });
    expect(await cli.call({ prompt: 'say hi' }, { effect: 'readOnly' })).toMatchObject({
      ok: false,
      failure: { kind: 'transient', attempts: 4 },
    });
    expect(left()).toEqual([]);
  });

  it('[S-5] [I-3] leaves no file after a timeout, an abort or the stop of its gateway', async () => {
    const { cli, gateway, left } = await startCommand([fixture('silent.mjs'), '{promptFile}']);
    const gone = (): Promise<unknown> => vi.waitUntil(() => left().length === 0, { timeout: 20_000 });
    await cli.call({ prompt: 'say hi' }, { attemptMs: 300, maxAttempts: 1 });
    await gone();
    const controller = new AbortController();
    gateway.once('process.started', () => controller.abort());
    await cli.call({ prompt: 'say hi' }, { signal: controller.signal });
    await gone();
    const started = gateway.wait('process.started');
    const last = cli.call({ prompt: 'say hi' });
    await started;
    expect(left()).toHaveLength(1);
    await gateway.stop();
    await last;
    await gone();
  });

  it('[S-5] leaves no file when the command cannot be started', async () => {
    const { cli, left } = await startCommand(['{promptFile}'], { command: 'no-such-command-anywhere' });
    expect(await cli.call({ prompt: 'say hi' })).toMatchObject({ failure: { kind: 'spawn' } });
    expect(left()).toEqual([]);
  });

  it('[S-5] that cannot be delivered is a failure before the start', async () => {
    const { cli } = await startCommand(['-e', '0']);
    const failure = { kind: 'permanent', outcome: 'not_started', message: 'The prompt is empty' };
    expect(await cli.call({ prompt: '' })).toMatchObject({ ok: false, failure });
  });

  it('[S-5] left behind by a dead process is swept when a gateway starts', async () => {
    const temporary = temporaryDirectory();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const old = `${temporary}/unwedge-prompt-old`;
    mkdirSync(old);
    utimesSync(old, Date.now() / 1000 - 3700, Date.now() / 1000 - 3700);
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    await gateway.start();
    await vi.waitUntil(() => !existsSync(old), { timeout: 20_000 });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe('a run of codex', () => {
  it.each([0, 1])('[S-10] whose turn failed has failed, also with exit code %s', async (code) => {
    const events = [{ type: 'turn.failed', error: { message: 'unexpected status 503 Service Unavailable: x' } }];
    const env = { FAKE_CODEX: JSON.stringify(events), FAKE_EXIT: String(code) };
    const { cli } = await startCommand([fixture('codex.mjs'), 'exec', '--json'], { agent: 'codex', env });
    const failure = { kind: 'transient', status: 503, attempts: 1 };
    expect(await cli.call({ prompt: 'say hi' })).toMatchObject({ ok: false, failure });
  });

  it('[R-12] that may have changed something is not tried again', async () => {
    const begun = { type: 'item.started', item: { type: 'command_execution', status: 'in_progress' } };
    const events = [begun, { type: 'turn.failed', error: { message: 'unexpected status 503 x' } }];
    const env = { FAKE_CODEX: JSON.stringify(events) };
    const { cli } = await startCommand([fixture('codex.mjs'), 'exec', '--json'], { agent: 'codex', env });
    const failure = { outcome: 'unknown', retryable: false, attempts: 1 };
    expect(await cli.call({ prompt: 'say hi' }, { maxAttempts: 3 })).toMatchObject({ failure });
  });
});
