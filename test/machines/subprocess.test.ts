import { describe, expect, it } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import { subprocessMachine } from '../../src/machines/subprocess.ts';
import type { OutputListenerFailed, ProcessOrder, SubprocessEmitted } from '../../src/machines/subprocessEvents.ts';
import type { SubprocessInput, SubprocessRun } from '../../src/machines/subprocessInput.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const empty = { text: '', bytes: 0, omittedBytes: 0 };

/** A run whose child does what the test says. */
function startRun(input: Partial<SubprocessInput> = {}) {
  const clock = new SimulatedClock();
  const orders: ProcessOrder[] = [];
  const told: (SubprocessEmitted | OutputListenerFailed)[] = [];
  const fake = fromCallback<ProcessOrder, SubprocessRun>(({ receive }) => receive((order) => orders.push(order)));
  const machine = subprocessMachine.provide({ actors: { process: fake } });
  const actor = createActor(machine, { clock, input: { command: 'cli', clock, ...input } });
  actor.on('*', (event) => told.push(event));
  actor.subscribe({ error: () => {} });
  actor.start();
  return { actor, clock, orders, told, exit: () => actor.getSnapshot().output };
}

function startRunning(input: Partial<SubprocessInput> = {}) {
  const run = startRun(input);
  run.actor.send({ type: 'process.spawned', pid: 4711 });
  const output = (bytes = 1, totalBytes = bytes) =>
    run.actor.send({ type: 'process.output', stream: 'stdout', bytes, totalBytes });
  const end = (exitCode: number | undefined, signal?: string) => {
    run.actor.send({ type: 'process.exited', exitCode, signal });
    run.actor.send({ type: 'process.terminated' });
    run.actor.send({ type: 'process.closed', stdout: { text: 'out', bytes: 3, omittedBytes: 0 }, stderr: empty });
  };
  return { ...run, output, end };
}

describe('a run that ends by itself', () => {
  it('[S-2] reports exit code and output as reason exit', () => {
    const run = startRunning();
    run.end(3);
    expect(run.exit()).toMatchObject({ reason: 'exit', exitCode: 3, pid: 4711, stdout: { text: 'out' } });
  });

  it('[S-2] reports a signal of others as reason signal', () => {
    const run = startRunning();
    run.end(undefined, 'SIGKILL');
    expect(run.exit()).toMatchObject({ reason: 'signal', signal: 'SIGKILL' });
  });

  it('[S-2] reads on until its output has ended, however long that takes', async () => {
    const run = startRunning();
    run.actor.send({ type: 'process.exited', exitCode: 0 });
    await run.clock.advance(3600_000);
    expect(run.orders).toEqual([{ type: 'process.drain', quietMs: 2000 }]);
    run.actor.send({ type: 'process.closed', stdout: { text: 'out', bytes: 3, omittedBytes: 0 }, stderr: empty });
    expect(run.exit()).toMatchObject({ reason: 'exit', exitCode: 0, stdout: { text: 'out' } });
    expect(run.exit()).not.toHaveProperty('outputCut');
  });

  it('[S-2] [R-14] is no exit where the end of its output was given up', () => {
    const run = startRunning({ drainMs: 50 });
    run.actor.send({ type: 'process.exited', exitCode: 0 });
    expect(run.orders).toEqual([{ type: 'process.drain', quietMs: 50 }]);
    run.actor.send({ type: 'process.closed', stdout: empty, stderr: empty, isCut: true });
    expect(run.exit()).toMatchObject({
      reason: 'output-cut',
      exitCode: 0,
      outputCut: true,
      message: expect.stringMatching(/^CLI exited with code 0, and a process that it started goes on/) as string,
    });
  });

  it('ends what holds its output when it is told to end', () => {
    const run = startRunning();
    run.actor.send({ type: 'process.exited', exitCode: 0 });
    run.actor.send({ type: 'process.kill', reason: 'overall-timeout' });
    expect(run.orders.map(({ type }) => type)).toEqual(['process.drain', 'process.terminate']);
    run.actor.send({ type: 'process.terminated' });
    run.actor.send({ type: 'process.closed', stdout: empty, stderr: empty });
    expect(run.exit()).toMatchObject({ reason: 'overall-timeout', exitCode: 0 });
  });

  it('keeps its reason when a limit passes while its output drains', async () => {
    const run = startRunning({ overallMs: 1000, drainMs: 200 });
    await run.clock.advance(900);
    run.actor.send({ type: 'process.exited', exitCode: 0 });
    await run.clock.advance(400);
    run.actor.send({ type: 'process.closed', stdout: empty, stderr: empty });
    expect(run.exit()).toMatchObject({ reason: 'exit' });
  });

  it('tells start and exit', () => {
    const run = startRunning();
    run.end(0);
    expect(run.told).toMatchObject([
      { type: 'process.started', pid: 4711, command: 'cli' },
      { type: 'process.exited', pid: 4711, reason: 'exit', exitCode: 0 },
    ]);
  });

  it('measures its time by the clock it was given', async () => {
    const run = startRunning();
    await run.clock.advance(1234);
    run.end(0);
    expect(run.exit()).toMatchObject({ elapsedMs: 1234, endedAt: run.clock.wallNow() });
  });
});

describe('the overall limit', () => {
  it('[S-2] ends the run when it passes, not before', async () => {
    const run = startRunning({ overallMs: 30_000 });
    await run.clock.advance(29_999);
    expect(run.orders).toEqual([]);
    await run.clock.advance(1);
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({
      reason: 'overall-timeout',
      signal: 'SIGTERM',
      message: 'CLI exceeded timeout (30s) and was terminated.',
    });
  });

  it('[S-2] is not moved by output', async () => {
    const run = startRunning({ overallMs: 1000 });
    await run.clock.advance(999);
    run.output();
    await run.clock.advance(1);
    expect(run.actor.getSnapshot().value).toBe('terminating');
  });

  it('leaves the reason to the no-output limit when both pass at once', async () => {
    const run = startRunning({ overallMs: 10_000, idleMs: 5000 });
    await run.clock.advance(5000 - 1);
    run.output();
    await run.clock.advance(1);
    run.output();
    await run.clock.advance(5000);
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({ reason: 'no-output-timeout' });
  });
});

describe('the no-output limit', () => {
  it('[S-2] ends the run when it passes, not before', async () => {
    const run = startRunning({ idleMs: 180_000 });
    await run.clock.advance(179_999);
    expect(run.orders).toEqual([]);
    await run.clock.advance(1);
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({
      reason: 'no-output-timeout',
      message: 'CLI produced no output for 180s and was terminated.',
    });
  });

  it('[S-2] is off unless given', async () => {
    const run = startRunning();
    await run.clock.advance(365 * 24 * 3600 * 1000);
    expect(run.actor.getSnapshot().matches('running')).toBe(true);
  });

  it.each(['output', 'progress'] as const)('[G-7] begins anew with %s', async (sign) => {
    const run = startRunning({ idleMs: 1000 });
    await run.clock.advance(999);
    if (sign === 'output') run.output();
    else run.actor.send({ type: 'process.progress' });
    await run.clock.advance(999);
    expect(run.orders).toEqual([]);
    await run.clock.advance(1);
    expect(run.orders).toEqual([{ type: 'process.terminate', graceMs: 5000 }]);
  });

  it('counts output that was waiting while the event loop was blocked', async () => {
    const run = startRunning({ idleMs: 1000 });
    // Fires right after the limit, as the reading of the pipe does after late timers.
    run.clock.setTimeout(() => run.output(), 1000);
    run.clock.stall(5000);
    await run.clock.advance(999);
    expect(run.orders).toEqual([]);
    await run.clock.advance(1);
    expect(run.orders).toHaveLength(1);
  });
});

describe('the output limit', () => {
  it('[S-2] ends the run with the first byte above it', () => {
    const run = startRunning({ maxOutputBytes: 1000 });
    run.output(1000);
    expect(run.orders).toEqual([]);
    run.output(1, 1001);
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({
      reason: 'output-limit',
      message: 'CLI produced more than 1000 bytes and was terminated.',
    });
  });

  it('holds with a no-output limit as well', () => {
    const run = startRunning({ maxOutputBytes: 1000, idleMs: 1000, overallMs: 5000 });
    run.output(1001);
    expect(run.actor.getSnapshot().value).toBe('terminating');
  });
});

describe('ending a run', () => {
  it.each(['process.kill', 'shutdown'] as const)('[S-2] is cancelled by %s, with its grace time', (type) => {
    const run = startRunning({ graceMs: 700 });
    run.actor.send({ type });
    expect(run.orders).toEqual([{ type: 'process.terminate', graceMs: 700 }]);
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({ reason: 'cancelled', message: 'CLI was cancelled and terminated.' });
  });

  it('[S-3, V-5] keeps its grace time when its supervisor stops while it is ending', () => {
    const run = startRunning({ graceMs: 700 });
    run.actor.send({ type: 'process.kill' });
    expect(run.actor.getSnapshot().can({ type: 'shutdown' })).toBe(true);
    run.actor.send({ type: 'shutdown' });
    expect([run.orders.length, run.exit()]).toEqual([1, undefined]);
  });

  it('[S-2] takes the reason of an owner that keeps the limits itself', () => {
    const run = startRunning();
    run.actor.send({ type: 'process.kill', reason: 'no-output-timeout' });
    run.end(undefined, 'SIGTERM');
    expect(run.exit()).toMatchObject({
      reason: 'no-output-timeout',
      message: 'CLI produced no output and was terminated.',
    });
  });

  it('[S-2] keeps the first of several reasons', async () => {
    const run = startRunning({ overallMs: 1000, graceMs: 5000 });
    await run.clock.advance(999);
    run.actor.send({ type: 'process.kill' });
    await run.clock.advance(1000);
    run.end(143);
    expect(run.exit()).toMatchObject({ reason: 'cancelled', exitCode: 143 });
    expect(run.orders.filter(({ type }) => type === 'process.terminate')).toHaveLength(1);
  });

  it('[S-3] is not over when the process has exited but its descendants have not', () => {
    const run = startRunning();
    run.actor.send({ type: 'process.kill' });
    run.actor.send({ type: 'process.exited', signal: 'SIGTERM' });
    run.actor.send({ type: 'process.closed', stdout: empty, stderr: empty });
    expect(run.exit()).toBeUndefined();
    run.actor.send({ type: 'process.terminated' });
    expect(run.exit()).toMatchObject({ reason: 'cancelled', signal: 'SIGTERM' });
  });

  it('[I-1] ends without an answer of the slot, a bounded time after the grace', async () => {
    const run = startRunning({ graceMs: 5000, drainMs: 200 });
    run.actor.send({ type: 'process.kill' });
    await run.clock.advance(34_999);
    expect(run.exit()).toBeUndefined();
    await run.clock.advance(1);
    expect(run.exit()).toMatchObject({ reason: 'cancelled' });
  });

  it('leaves no timer behind', () => {
    const run = startRunning({ overallMs: 1000, idleMs: 500 });
    run.end(0);
    expect(run.clock.pending).toBe(0);
  });
});

describe('starting', () => {
  it('[S-4] ends as spawn-error with the message of the error', () => {
    const run = startRun();
    const error = new Error('no such command');
    run.actor.send({ type: 'process.failed', error });
    expect(run.exit()).toMatchObject({ reason: 'spawn-error', error, message: 'no such command', pid: undefined });
  });

  it('ends as spawn-error that names the slot when nothing fills it', () => {
    const clock = new SimulatedClock();
    const actor = createActor(subprocessMachine, { clock, input: { command: 'cli', clock } }).start();
    expect(actor.getSnapshot().output?.message).toContain('`process`');
  });

  it.each([
    [{ overallMs: 0 }, 'Expected `overallMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ idleMs: -1 }, 'Expected `idleMs` to be a duration above 0 (ms, or text such as 30s), got -1'],
    [{ graceMs: -1 }, 'Expected `graceMs` to be a duration of at least 0 (ms, or text such as 30s), got -1'],
    [
      { command: '' },
      'Expected `command` to be a non-empty string, the program alone: what follows it goes in `args`, as in { command: "node", args: ["server.mjs"] }, got ""',
    ],
  ])('refuses %j', (input, message) => {
    const run = startRun(input);
    expect(run.actor.getSnapshot()).toMatchObject({ status: 'error', error: { message } });
  });
});

describe('a listener that throws', () => {
  it('[I-4] is told as a fact', () => {
    const run = startRunning();
    run.actor.send({ type: 'process.listener_failed', error: new Error('boom') });
    expect(run.told.at(-1)).toMatchObject({ type: 'listener.failed', event: 'process.output', error: 'boom' });
  });
});
