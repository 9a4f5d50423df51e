import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../src/index.ts';
import { isAlive } from '../support/temporary.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

async function startCommand(options: Partial<SubprocessOptions> = {}) {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const cli = gateway.subprocess('cli', { command: process.execPath, graceMs: 200, ...options });
  await gateway.start();
  return { gateway, cli, started: gateway.wait('process.started'), exited: gateway.wait('process.exited') };
}

describe('a command', () => {
  it('[S-1] gives its output and its exit', async () => {
    const { cli } = await startCommand();
    expect(await cli.call({ args: ['-p', '6 * 7'] })).toMatchObject({
      ok: true,
      value: { reason: 'exit', exitCode: 0, stdout: { text: '42\n' } },
    });
  });

  it('[S-2] [I-1] that goes silent ends its call at the limit, and is recorded with that reason', async () => {
    const { cli, exited, started } = await startCommand();
    const outcome = await cli.call({ args: [fixture('silent.mjs')] }, { idleMs: 400, maxAttempts: 1 });
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'timeout', message: 'CLI produced no output for 0.4s and was terminated.' },
    });
    expect(await exited).toMatchObject({ reason: 'no-output-timeout' });
    expect(isAlive((await started).pid)).toBe(false);
  });

  it('[S-2] that takes too long is ended with the message of its overall limit', async () => {
    const { cli, exited } = await startCommand();
    const outcome = await cli.call({ args: [fixture('silent.mjs')] }, { attemptMs: 400, maxAttempts: 1 });
    expect(outcome).toMatchObject({ failure: { message: 'CLI exceeded timeout (0.4s) and was terminated.' } });
    expect(await exited).toMatchObject({ reason: 'overall-timeout' });
  });

  it('[R-8] [S-3] is ended when its caller aborts the call', async () => {
    const { cli, started, exited } = await startCommand();
    const controller = new AbortController();
    const outcome = cli.call({ args: [fixture('silent.mjs')] }, { signal: controller.signal });
    const { pid } = await started;
    controller.abort();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await exited).toMatchObject({ reason: 'cancelled' });
    expect(isAlive(pid)).toBe(false);
  });

  it('[S-4] that cannot be found is a failure of kind spawn, not tried again', async () => {
    const { cli } = await startCommand({ command: 'no-such-command-anywhere' });
    expect(await cli.call({})).toMatchObject({ ok: false, failure: { kind: 'spawn', code: 'ENOENT', attempts: 1 } });
  });

  it('[S-9] that exits with an error says what it wrote to stderr', async () => {
    const { cli } = await startCommand();
    const outcome = await cli.call({ args: ['-e', 'console.error("disk on fire"); process.exit(4)'] });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unknown', message: 'disk on fire', code: 4 } });
  });

  it('refuses options that make no sense, and starts nothing', () => {
    const gateway = createGateway();
    expect(() => gateway.subprocess('cli', { command: '' })).toThrow('Expected `cli.command` to be a non-empty string');
    expect(() => gateway.subprocess('cli', { command: 'x', graceMs: -1 })).toThrow('`cli.graceMs`');
    expect(() => gateway.subprocess('cli', { command: 'x', shell: true } as SubprocessOptions)).toThrow('cli.shell');
  });
});
