import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../../../src/index.ts';
import { isSettled } from '../../../support/deferred.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { isAlive } from '../../../support/temporary.ts';

const wrapper = fileURLToPath(new URL('../../../fixtures/wrapper.mjs', import.meta.url));

async function startCommand(options: Partial<SubprocessOptions> = {}, clock = new SkippingClock()) {
  const gateway = createGateway({ clock });
  onTestFinished(() => gateway.stop());
  const cli = gateway.subprocess('cli', { command: process.execPath, graceMs: 200, ...options });
  await gateway.start();
  return { gateway, cli, exited: gateway.wait('process.exited') };
}

const program = (code: string) => ({ args: ['-e', code] });
const goesOn = 'setInterval(() => undefined, 1000);';

describe('the lines of a command', () => {
  it('[R-13] come while it runs, and a reader that leaves ends it and what it started', async () => {
    const { cli, exited } = await startCommand();
    const stream = cli.stream({ args: [wrapper, '--', '-e', `console.log(process.pid); ${goesOn}`] });
    let pid = 0;
    for await (const line of stream.chunks) {
      pid = Number(line);
      expect(isAlive(pid)).toBe(true);
      break;
    }
    expect(await stream.outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'reader_left' } });
    await exited;
    expect(isAlive(pid)).toBe(false);
  });

  it('[R-13] end as it does: all of them, whatever it left in its pipe', async () => {
    const { cli, exited } = await startCommand();
    const stream = cli.stream(program("process.stdout.write('é\\r\\n'.repeat(9999) + 'last')"));
    // Nobody reads yet.
    expect(await exited).toMatchObject({ exitCode: 0 });
    const lines: string[] = [];
    for await (const line of stream.chunks) lines.push(line);
    expect(lines).toHaveLength(10_000);
    expect(lines.slice(-2)).toEqual(['é', 'last']);
    expect(await stream.outcome).toMatchObject({ ok: true, value: { chunks: 10_000 } });
  });

  it('[R-13] are the body of a response, each with its end', async () => {
    const { cli } = await startCommand();
    const stream = cli.stream(program("process.stdout.write('one\\ntwo')"));
    expect(await new Response(stream.toReadableStream()).text()).toBe('one\ntwo\n');
  });

  it('[R-13] come before its failure, which is judged by its exit, and it is not run again', async () => {
    const { cli, gateway } = await startCommand({ policy: { retry: { maxAttempts: 3 } } });
    let runs = 0;
    gateway.on('process.started', () => void runs++);
    const { chunks, outcome } = cli.stream(
      program("console.log('a'); console.error('read ECONNRESET'); process.exitCode = 3"),
      {
        effect: 'readOnly',
      },
    );
    expect(await chunks.next()).toEqual({ done: false, value: 'a' });
    await expect(chunks.next()).rejects.toMatchObject({ failure: { kind: 'transient', code: 3, attempts: 1 } });
    expect((await outcome).ok).toBe(false);
    expect(runs).toBe(1);
  });

  it('[R-13] come all before its failure, the last one without its end too', async () => {
    const { cli } = await startCommand();
    const { chunks } = cli.stream(program("process.stdout.write('a\\nwhy it failed'); process.exitCode = 3"));
    expect(await chunks.next()).toEqual({ done: false, value: 'a' });
    expect(await chunks.next()).toEqual({ done: false, value: 'why it failed' });
    await expect(chunks.next()).rejects.toMatchObject({ failure: { code: 3 } });
  });

  it('[R-13] wait for their reader: a child that prints more than its pipe holds goes on when they are read', async () => {
    const { cli, gateway } = await startCommand();
    let hasExited = false;
    gateway.on('process.exited', () => {
      hasExited = true;
    });
    const line = 'x'.repeat(1000);
    const { chunks, outcome } = cli.stream(
      program(`const fs = require('node:fs'); for (let i = 0; i < 4000; i++) fs.writeSync(1, '${line}\\n');`),
    );
    let count = 0;
    let exitedAt: number | undefined;
    for await (const each of chunks) {
      count += each.length / 1000;
      if (hasExited) exitedAt ??= count;
    }
    expect(count).toBe(4000);
    // As long as much of it was still to be written it could not end.
    expect(exitedAt ?? count).toBeGreaterThan(1000);
    expect((await outcome).ok).toBe(true);
  });

  it('[R-13] end at one that is too long, and the process with them', async () => {
    const { cli, exited } = await startCommand({ maxLineBytes: 100 });
    const { chunks } = cli.stream(program(`console.log('a'); process.stdout.write('x'.repeat(200)); ${goesOn}`));
    expect(await chunks.next()).toEqual({ done: false, value: 'a' });
    await expect(chunks.next()).rejects.toMatchObject({
      failure: { reason: 'message_too_large', message: 'A line of the output is longer than 100 bytes' },
    });
    expect(await exited).toMatchObject({ reason: 'cancelled' });
  });

  it('[R-13] [R-9] that stop coming end by the limit on silence', async () => {
    const clock = new SkippingClock();
    const { cli, exited } = await startCommand({}, clock);
    const { chunks } = cli.stream(program(`console.log('a'); ${goesOn}`), { idleMs: 60_000 });
    expect(await chunks.next()).toEqual({ done: false, value: 'a' });
    const next = chunks.next();
    // The sign of life of the first line is told a turn later.
    expect(await isSettled(next)).toBe(false);
    clock.skip(60_000);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(await exited).toMatchObject({ reason: 'no-output-timeout' });
  });

  it('[R-13] are what a session hands on', async () => {
    const { cli, gateway } = await startCommand();
    const seen: unknown[] = [];
    const session = gateway.session('main', {
      onMessage: async (_, turn) => {
        const { chunks, result } = turn.stream(cli, 'run', program("console.log('a\\nb')"));
        for await (const line of chunks) seen.push(line.toUpperCase());
        seen.push((await result).status);
      },
    });
    const ended = gateway.wait('session.turn_ended');
    await session.send({ kind: 'user' });
    await ended;
    expect(seen).toEqual(['A', 'B', 'ok']);
  });
});
