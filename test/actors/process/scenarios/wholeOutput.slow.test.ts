import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../../../src/index.ts';

/** More than the machine has cores, so that every process waits for its turn. */
const busyLoops = 12;
const atOnce = 24;
const rounds = 3;
const busy: ChildProcess[] = [];

beforeAll(() => {
  for (let n = 0; n < busyLoops; n++) busy.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
});

afterAll(() => {
  for (const loop of busy) loop.kill('SIGKILL');
});

async function startCommand(options: SubprocessOptions) {
  const gateway = createGateway({ store: ':memory:' });
  onTestFinished(() => gateway.stop());
  const command = gateway.subprocess('many', options);
  await gateway.start();
  return command;
}

const long = 'x'.repeat(500_000);

describe('24 commands at once beside twelve busy loops', () => {
  it.each([
    ['without stdin', 'echo begin; echo end', undefined],
    ['with 500 kB of stdin', 'cat >/dev/null; echo begin; echo end', long],
    ['that hand on 500 kB', 'echo begin; cat; echo; echo end', long],
  ])('[S-2] [I-1] all give their whole output: %s', { timeout: 600_000 }, async (_, script, stdin) => {
    const command = await startCommand({ command: 'sh', args: ['-c', script] });
    for (let round = 0; round < rounds; round++) {
      const calls = Array.from({ length: atOnce }, () => command.call({ stdin }, { maxAttempts: 1 }));
      const whole = { reason: 'exit', stdout: { text: expect.stringMatching(/^begin\n[^]*end\n$/) as string } };
      for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ ok: true, value: whole });
    }
  });

  it('[H-2] all hooks that deny by JSON do so', { timeout: 600_000 }, async () => {
    const gateway = createGateway({ store: ':memory:' });
    onTestFinished(() => gateway.stop());
    const deny = JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } });
    const hook = { command: 'sh', args: ['-c', `cat >/dev/null; echo '${deny}'`] };
    gateway.hook('PreToolUse', hook, { name: 'guard', overallMs: 300_000 });
    await gateway.start();
    for (let round = 0; round < rounds; round++) {
      const runs = Array.from({ length: atOnce }, () => gateway.runHooks({ event: 'PreToolUse', action: 'Bash' }));
      for (const verdict of await Promise.all(runs)) expect(verdict).toMatchObject({ decision: 'block', reason: 'no' });
    }
  });
});
