import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../../../src/index.ts';
import { isAlive, temporaryDirectory } from '../../../support/temporary.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url));

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
      failure: { kind: 'timeout', message: 'node produced no output for 400ms and was terminated.' },
    });
    expect(await exited).toMatchObject({ reason: 'no-output-timeout' });
    expect(isAlive((await started).pid)).toBe(false);
  });

  it('[S-2] that takes too long is ended with the message of its overall limit', async () => {
    const { cli, exited } = await startCommand();
    const outcome = await cli.call({ args: [fixture('silent.mjs')] }, { attemptMs: 400, maxAttempts: 1 });
    expect(outcome).toMatchObject({ failure: { message: 'node exceeded timeout (400ms) and was terminated.' } });
    expect(await exited).toMatchObject({ reason: 'overall-timeout' });
  });

  it("[S-2] that is an agent's is called CLI", async () => {
    const { cli } = await startCommand({ agent: 'claude' });
    const outcome = await cli.call({ args: [fixture('silent.mjs')] }, { attemptMs: 400, maxAttempts: 1 });
    expect(outcome).toMatchObject({ failure: { message: 'CLI exceeded timeout (400ms) and was terminated.' } });
  });

  it.each([
    ['goose', ['run', '-t', 'hello'], 'SIGINT'],
    ['codex', ['exec', '--json', 'hello'], 'SIGTERM'],
  ])('[S-3] [A-1] that is the agent %s is asked to end by the signal of its profile', async (agent, args, signal) => {
    const directory = temporaryDirectory();
    const [command, ready, heard] = [agent, 'ready', 'heard'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const script = `const { writeFileSync } = require('node:fs');
      const hear = (signal) => { writeFileSync(${JSON.stringify(heard)}, signal); process.exit(0); };
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, hear);
      writeFileSync(${JSON.stringify(ready)}, '');
      setInterval(() => {}, 1000);`;
    writeFileSync(command, `#!${process.execPath}\n${script}\n`, { mode: 0o755 });
    const { cli, exited } = await startCommand({ command, graceMs: 60_000 });
    const controller = new AbortController();
    const outcome = cli.call({ args }, { signal: controller.signal });
    await expect.poll(() => existsSync(ready)).toBe(true);
    controller.abort();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await exited;
    expect(readFileSync(heard, 'utf8')).toBe(signal);
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

  it.each(['mutating', undefined, 'readOnly'] as const)(
    '[S-2] [R-12] whose output a process of its own goes on to hold is a lost answer, not told as whole and not repeated: %s',
    async (effect) => {
      // A shell that is not known for one: its code is that of the program, which starts sooner than Node.
      const command = join(temporaryDirectory(), 'tool');
      symlinkSync('/bin/sh', command);
      const { cli } = await startCommand({ command, policy: { retry: { repeatAfter: 'lost' } } });
      const outcome = await cli.call({ args: ['-c', 'echo begin; sleep 1000 & exit 0'] }, { effect });
      const failure = { kind: 'protocol', reason: 'output_cut', outcome: 'unknown', attempts: 1, code: 0 };
      expect(outcome).toMatchObject({ ok: false, failure });
    },
  );

  it('[S-2] whose output a process of its own holds for a while gives all of it', async () => {
    const { cli } = await startCommand({ command: 'sh' });
    const outcome = await cli.call({ args: ['-c', 'echo begin; (sleep 0.5; echo end) & exit 0'] });
    expect(outcome).toMatchObject({ ok: true, value: { stdout: { text: 'begin\nend\n' } } });
  });

  it.each(['mutating', undefined] as const)(
    '[R-5] [R-12] that fails is not run again for what it said of a service: %s',
    async (effect) => {
      const { cli } = await startCommand({ command: 'sh' });
      const said = async (text: string) => {
        const outcome = await cli.call({ args: ['-c', `printf '${text}' >&2; exit 1`] }, { effect });
        return outcome.ok ? undefined : [outcome.failure.kind, outcome.failure.attempts, outcome.failure.outcome];
      };
      expect(await said('got 503, trying again\\nno space left on device\\n')).toEqual(['unknown', 1, 'failed']);
      expect(await said('HTTP 503\\n')).toEqual(['transient', 1, 'unknown']);
    },
  );

  it('[S-4] that cannot be found is a failure of kind spawn, not tried again', async () => {
    const { cli } = await startCommand({ command: 'no-such-command-anywhere' });
    expect(await cli.call({})).toMatchObject({ ok: false, failure: { kind: 'spawn', code: 'ENOENT', attempts: 1 } });
  });

  it.each([
    ['is not there', 'no-such-command-anywhere'],
    ['has too long a name', 'x'.repeat(300)],
  ])('[O-8] [S-4] that %s says nothing of its arguments', async (_why, command) => {
    const { cli, gateway } = await startCommand({ command, args: ['{prompt}'] });
    const told: unknown[] = [];
    gateway.on('*', (fact) => told.push(fact));
    const outcome = await cli.call({ prompt: 'my secret', args: ['--token=my secret'] });
    expect(outcome).toMatchObject({ failure: { kind: 'spawn' } });
    expect(inspect([outcome, told], { depth: 9, showHidden: true })).not.toContain('my secret');
  });

  it('[S-9] that exits with an error says what it wrote to stderr', async () => {
    const { cli } = await startCommand();
    const outcome = await cli.call({ args: ['-e', 'console.error("disk on fire"); process.exit(4)'] });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unknown', message: 'disk on fire', code: 4 } });
  });

  it.each([
    ['an exit code', 'process.exitCode = 4', 'node failed with exit code 4.'],
    [
      'a signal',
      "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 60_000)",
      'node was ended by SIGTERM, not by us.',
    ],
  ])('[S-9] that ends without a word says %s, as a call and as a stream', async (_, program, message) => {
    const { cli } = await startCommand();
    const request = { args: ['-e', program] };
    expect(await cli.call(request, { maxAttempts: 1 })).toMatchObject({ failure: { message } });
    const { chunks, outcome } = cli.stream(request, { maxAttempts: 1 });
    await expect(chunks.next()).rejects.toThrow(message);
    expect(await outcome).toMatchObject({ failure: { message } });
  });

  it.each([124, 126, 127, 129, 130, 134, 137, 139, 143])(
    '[S-9] [R-12] that exits with %i by itself has answered, and is run once',
    async (code) => {
      const backoff = { initialMs: 1, maxMs: 1 };
      // A shell that is not known for one: its code is that of the program, which starts sooner than Node.
      const command = join(temporaryDirectory(), 'tool');
      symlinkSync('/bin/sh', command);
      const { cli } = await startCommand({ command, policy: { retry: { maxAttempts: 4, backoff } } });
      const call = { args: ['-c', `echo connect ECONNREFUSED; echo usage: x >&2; exit ${code}`] };
      for (const effect of ['readOnly', 'idempotent', 'mutating', undefined] as const)
        expect(await cli.call(call, { effect })).toMatchObject({
          failure: {
            ...{ kind: 'unknown', code, attempts: 1, retryable: false, message: 'usage: x' },
            outcome: code === 126 || code === 127 ? 'unknown' : 'failed',
          },
        });
    },
  );

  it('[S-9] [R-12] that a wrapper cannot find was not started; one whose last command is missing may have had its effect', async () => {
    const { cli } = await startCommand({ command: 'nice', args: [] });
    expect(await cli.call({ args: ['nosuch-program'] }, { effect: 'mutating' })).toMatchObject({
      failure: { kind: 'spawn', code: 127, outcome: 'not_started', attempts: 1 },
    });
    for (const script of [':; nosuch-program', 'nosuch-program "$(:)"'])
      expect(await cli.call({ args: ['sh', '-c', script] }, { effect: 'mutating' })).toMatchObject({
        failure: { kind: 'unknown', code: 127, outcome: 'unknown', attempts: 1 },
      });
    expect(await cli.call({ args: ['sh', '-c', 'nosuch-program'] }, { effect: 'mutating' })).toMatchObject({
      failure: { kind: 'spawn', code: 127, outcome: 'not_started' },
    });
  });

  it('[S-9] that a signal ends has crashed, behind a shell or not, and a code of the shell is a hint alone', async () => {
    const { cli } = await startCommand({ command: 'sh', args: ['-c'] });
    const once = { effect: 'readOnly', maxAttempts: 1 } as const;
    expect(await cli.call({ args: ['kill -SEGV $$'] }, once)).toMatchObject({
      failure: { kind: 'crash', code: 'SIGSEGV' },
    });
    expect(await cli.call({ args: ['sh -c "kill -KILL \\$\\$"; exit $?'] }, { effect: 'readOnly' })).toMatchObject({
      failure: {
        kind: 'unknown',
        code: 137,
        attempts: 1,
        message: expect.stringContaining('as a shell tells SIGKILL') as string,
      },
    });
  });

  it('[R-12] has an effect of its own, which a call overrides', async () => {
    const backoff = { initialMs: 1, maxMs: 1 };
    const { cli } = await startCommand({ effect: 'readOnly', policy: { retry: { maxAttempts: 2, backoff } } });
    const crash = { args: ['-e', 'process.kill(process.pid, "SIGKILL")'] };
    expect(await cli.call(crash)).toMatchObject({ failure: { kind: 'crash', attempts: 2 } });
    expect(await cli.call(crash, { effect: 'mutating' })).toMatchObject({ failure: { attempts: 1 } });
    await expect(startCommand({ effect: 'harmless' as never })).rejects.toThrow('cli.effect');
  });

  it('[S-9] that prints nothing where output is expected is an empty response', async () => {
    const { cli } = await startCommand({ expectsOutput: true });
    expect(await cli.call({ args: ['-e', ''] })).toMatchObject({
      ok: false,
      failure: { kind: 'unknown', reason: 'empty_response', message: 'node exited with code 0 and printed no answer.' },
    });
    expect(await cli.call({ args: ['-p', '1'] })).toMatchObject({ ok: true });
  });

  it('[S-2] that floods its output is ended at its limit, whatever it says', async () => {
    const { cli, exited, started } = await startCommand({ maxOutputBytes: 1_000_000 });
    expect(await cli.call({ args: [fixture('flood.mjs'), '50'] })).toMatchObject({
      ok: false,
      failure: {
        kind: 'protocol',
        reason: 'message_too_large',
        message: expect.stringContaining('1000000 bytes') as string,
      },
    });
    expect(await exited).toMatchObject({ reason: 'output-limit' });
    expect(isAlive((await started).pid)).toBe(false);
  });

  it('[S-2] that prints only at its end is not ended for its silence', async () => {
    const policy = { limits: { idleMs: 1 } };
    const { cli } = await startCommand({ printsOnlyAtEnd: true, policy });
    expect(await cli.call({ args: ['-p', '1'] })).toMatchObject({ ok: true });
  });

  it('[S-4] whose arguments are too long says nothing to its breaker', async () => {
    const { cli } = await startCommand({ policy: { breaker: { consecutiveFailures: 1 } } });
    const outcome = await cli.call({ args: ['x'.repeat(131_072)] });
    expect(outcome).toMatchObject({ failure: { kind: 'spawn', code: 'E2BIG', attempts: 1, outcome: 'not_started' } });
    expect(cli.breaker.state).toBe('closed');
  });

  it('[S-4] that ends at once says so with the last lines of its stderr', async () => {
    const { cli } = await startCommand();
    const script = 'console.error("x\\n".repeat(1000) + "no such flag: --frobnicate"); process.exit(2)';
    const outcome = await cli.call({ args: ['-e', script] });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'unknown', code: 2 } });
    expect(outcome.ok || outcome.failure.message).toMatch(/^x\n[^]*no such flag: --frobnicate$/);
  });

  it('[S-4] whose working directory is missing, or is a file, says which it is', async () => {
    const { cli } = await startCommand();
    const missing = await cli.call({ cwd: '/no/such/directory' });
    expect(missing).toMatchObject({ failure: { kind: 'spawn', code: 'ENOENT' } });
    expect(missing.ok || missing.failure.message).toContain(
      'the working directory "/no/such/directory" does not exist',
    );
    const file = await cli.call({ cwd: fixture('silent.mjs') });
    expect(file.ok || file.failure.message).toContain('is not a directory');
  });

  it('[S-1] gets only the variables it is allowed', async () => {
    const { cli } = await startCommand({ envAllow: ['PATH'], env: { A: '1' } });
    const outcome = await cli.call({ args: ['-p', 'Object.keys(process.env).sort().join()'] });
    expect(outcome).toMatchObject({ ok: true, value: { stdout: { text: 'A,PATH,UNWEDGE_RUN\n' } } });
  });

  it.each([[{ args: 'a' }], [{ args: ['a\0b'] }], [{ command: 'rm' }], [null]])(
    'takes the request %o for the mistake of who asks, and starts nothing',
    async (request) => {
      const { gateway, cli } = await startCommand();
      const told: string[] = [];
      gateway.on('process.started', ({ process: name }) => told.push(name));
      const outcome = await cli.call(request as Parameters<typeof cli.call>[0]);
      expect(outcome).toMatchObject({ failure: { kind: 'permanent', outcome: 'not_started', attempts: 1 } });
      expect(told).toEqual([]);
    },
  );

  it('refuses options that make no sense, and starts nothing', () => {
    const gateway = createGateway();
    expect(() => gateway.subprocess('cli', { command: '' })).toThrow('Expected `cli.command` to be a non-empty string');
    expect(() => gateway.subprocess('cli', { command: 'x', graceMs: -1 })).toThrow('`cli.graceMs`');
    expect(() => gateway.subprocess('cli', { command: 'x', shell: true } as SubprocessOptions)).toThrow('cli.shell');
  });
});
