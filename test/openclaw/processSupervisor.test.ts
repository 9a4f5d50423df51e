import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { createProcessSupervisor, type ProcessSupervisorOptions } from '../../src/openclaw/processSupervisor.ts';
import type { ChildRunInput, ManagedRun, ProcessSupervisor, SpawnInput } from '../../src/openclaw/supervisorTypes.ts';
import { processesWith } from '../cli/startHook.ts';
import { fixture } from '../cli/startRun.ts';
import { hasSqlite } from '../store/startStore.ts';
import { isAlive, temporaryDirectory } from '../support/temporary.ts';

const node = process.execPath;
const sleeps = [node, '-e', 'setInterval(() => undefined, 1_000_000)'];
const says = (text: string): string[] => [node, '-e', `process.stdout.write(${JSON.stringify(text)})`];

function start(options: ProcessSupervisorOptions = {}): ProcessSupervisor {
  const supervisor = createProcessSupervisor({ graceMs: 200, ...options });
  onTestFinished(() => supervisor.shutdown());
  return supervisor;
}

const child = (argv: readonly string[], more: Partial<ChildRunInput> = {}): SpawnInput => ({
  mode: 'child',
  argv,
  sessionId: 'agent:main',
  backendId: 'claude-cli',
  ...more,
});

/** Resolves when the run has said something. */
function heard(
  supervisor: ProcessSupervisor,
  argv: readonly string[],
  more: Partial<ChildRunInput> = {},
): Promise<{ run: ManagedRun; text: string }> {
  return new Promise((resolve, reject) => {
    const begun = supervisor.spawn(
      child(argv, { ...more, onStdout: (text) => void begun.then((run) => resolve({ run, text })) }),
    );
    begun.catch(reject);
  });
}

describe('the process supervisor for OpenClaw', () => {
  it('[E-8] has the methods of both generations, each free of `this`', async () => {
    const supervisor = start();
    // The earlier one.
    expect(supervisor).toMatchObject(
      methods('spawn', 'cancel', 'cancelScope', 'cancelAll', 'reconcileOrphans', 'getRecord'),
    );
    // The later one.
    expect(supervisor).toMatchObject(methods('spawn', 'cancel', 'cancelScope', 'acquireScopeCleanup', 'shutdown'));
    const { spawn, getRecord, cancel } = supervisor;
    const run = await spawn(child(sleeps, { runId: ' r1 ', scopeKey: ' cli:1 ' }));
    expect(run).toMatchObject({ runId: 'r1', ...methods('wait', 'cancel', 'waitForExtinction', 'detachOutput') });
    expect(run.pid).toBe(getRecord('r1')?.pid);
    expect(getRecord('r1')).toEqual({
      ...{ runId: 'r1', sessionId: 'agent:main', backendId: 'claude-cli', scopeKey: 'cli:1', state: 'running' },
      ...{ pid: run.pid, processGroupId: run.pid },
      ...Object.fromEntries(
        ['startedAtMs', 'createdAtMs', 'updatedAtMs', 'lastOutputAtMs'].map((name) => [name, expect.any(Number)]),
      ),
    });
    cancel('r1');
    expect(getRecord('r1')).toMatchObject({ state: 'exiting', terminationReason: 'manual-cancel' });
    const { wait } = run;
    expect(await wait()).toEqual({
      ...{ reason: 'manual-cancel', exitCode: null, exitSignal: 'SIGTERM', stdout: '', stderr: '' },
      ...{ timedOut: false, noOutputTimedOut: false, durationMs: expect.any(Number) as number },
    });
    expect(getRecord('r1')).toMatchObject({
      state: 'exited',
      terminationReason: 'manual-cancel',
      exitCode: null,
      exitSignal: 'SIGTERM',
    });
  });

  it('[E-8] names each end as OpenClaw does', async () => {
    const supervisor = start();
    const end = async (argv: readonly string[], more: Partial<ChildRunInput> = {}) =>
      (await supervisor.spawn(child(argv, more))).wait();
    const ends = await Promise.all([
      end(says('hello')),
      end([node, '-e', 'process.stderr.write("no"); process.exitCode = 7']),
      end([node, '-e', 'process.kill(process.pid, "SIGKILL")']),
      end(sleeps, { timeoutMs: 60 }),
      end(sleeps, { noOutputTimeoutMs: 60 }),
    ]);
    expect(ends).toMatchObject([
      { reason: 'exit', exitCode: 0, exitSignal: null, stdout: 'hello', timedOut: false },
      { reason: 'exit', exitCode: 7, stderr: 'no' },
      { reason: 'signal', exitCode: null, exitSignal: 'SIGKILL' },
      { reason: 'overall-timeout', timedOut: true, noOutputTimedOut: false },
      { reason: 'no-output-timeout', timedOut: true, noOutputTimedOut: true },
    ]);
    const missing = supervisor.spawn(child(['/no/such/program'], { runId: 'gone' }));
    await expect(missing).rejects.toThrow('/no/such/program');
    expect(supervisor.getRecord('gone')).toMatchObject({
      state: 'exited',
      terminationReason: 'spawn-error',
      exitCode: null,
    });
    const run = await supervisor.spawn(child(sleeps));
    run.cancel('no-output-timeout');
    run.cancel('manual-cancel');
    expect(await run.wait()).toMatchObject({ reason: 'no-output-timeout', noOutputTimedOut: true });
  });

  it('[E-8] takes a limit that is none for no limit', async () => {
    const supervisor = start();
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const run = await supervisor.spawn(child(says('x'), { timeoutMs, noOutputTimeoutMs: timeoutMs }));
      expect(run.activity.deadlineAtMs).toBeUndefined();
      expect(await run.wait()).toMatchObject({ reason: 'exit', stdout: 'x' });
    }
    const run = await supervisor.spawn(child(sleeps, { timeoutMs: 60_000 }));
    expect(run.activity).toMatchObject({ deadlineAtMs: run.startedAtMs + 60_000, resultSettled: false });
    run.cancel();
    await run.waitForExtinction();
    expect(run.activity.resultSettled).toBe(true);
  });

  it('[E-8] [I-3] ends the whole tree of a run, and only then says that it has ended', async () => {
    const supervisor = start();
    const { run, text } = await heard(supervisor, [node, fixture('stubborn.mjs')]);
    const { pid, child: grandchild } = JSON.parse(text) as { pid: number; child: number };
    expect([isAlive(pid), isAlive(grandchild)]).toEqual([true, true]);
    run.cancel();
    expect(await run.wait()).toMatchObject({ reason: 'manual-cancel', exitSignal: 'SIGKILL' });
    expect([isAlive(pid), isAlive(grandchild)]).toEqual([false, false]);
  });

  it('[E-8] hands on output as text and as bytes, keeps the end of it, and stops when it is told to', async () => {
    const supervisor = start();
    const euro =
      'process.stdout.write(Buffer.from([0xe2, 0x82])); setTimeout(() => process.stdout.write(Buffer.from([0xac])), 50)';
    const texts: string[] = [];
    let bytes = 0;
    const split = await supervisor.spawn(
      child([node, '-e', euro], {
        onStdout: (text) => texts.push(text),
        onStdoutRaw: (chunk) => (bytes += chunk.length),
      }),
    );
    expect((await split.wait()).stdout).toBe('€');
    expect([texts, bytes]).toEqual([['€'], 3]);
    const long = await supervisor.spawn(child(says(`${'a'.repeat(5000)}end`), { maxCapturedOutputChars: 300 }));
    const { stdout } = await long.wait();
    expect([
      stdout.length,
      stdout.startsWith('[captured stdout truncated to last 300 chars]\n'),
      stdout.endsWith('aend'),
    ]).toEqual([300, true, true]);
    const silent = await supervisor.spawn(child(says('secret'), { captureOutput: false }));
    expect((await silent.wait()).stdout).toBe('');
    const after: string[] = [];
    const { run } = await heard(
      supervisor,
      [
        node,
        '-e',
        'process.stdin.resume(); process.stdout.write("one"); process.stdin.on("end", () => process.stdout.write("two"))',
      ],
      {
        stdinMode: 'pipe-open',
        onStderr: (text) => after.push(text),
      },
    );
    run.detachOutput();
    run.stdin?.end();
    expect((await run.wait()).stdout).toBe('one');
  });

  it('[E-8] a listener that throws ends neither the run nor the capture', async () => {
    const supervisor = start();
    let times = 0;
    const run = await supervisor.spawn(
      child([node, '-e', 'process.stdout.write("one"); setTimeout(() => process.stdout.write("two"), 50)'], {
        onStdout: () => {
          times += 1;
          throw new Error('broken listener');
        },
      }),
    );
    expect(await run.wait()).toMatchObject({ reason: 'exit', stdout: 'onetwo' });
    expect(times).toBe(1);
  });

  it('[E-8] gives stdin as it was asked for', async () => {
    const supervisor = start();
    const echo = [node, fixture('echoStdin.mjs')];
    const given = await supervisor.spawn(child(echo, { input: 'all of it' }));
    expect((await given.wait()).stdout).toContain('all of it');
    const open = await supervisor.spawn(child(echo, { input: 'one ', stdinMode: 'pipe-open' }));
    const written = await new Promise((resolve) => open.stdin?.write('two', resolve));
    expect([written, open.stdin?.writable, open.stdin?.destroyed]).toEqual([null, true, false]);
    open.stdin?.end();
    expect((await open.wait()).stdout).toContain('one two');
    const closed = await supervisor.spawn(child(echo));
    expect(closed.stdin).toBeUndefined();
    expect(await closed.wait()).toMatchObject({ reason: 'exit' });
    const destroyed = await supervisor.spawn(child(echo, { stdinMode: 'pipe-open' }));
    destroyed.stdin?.destroy();
    expect(await destroyed.wait()).toMatchObject({ reason: 'exit' });
  });

  it('[E-8] runs with the environment, the directory and the arguments that it is given, and no shell but for a shell line', async () => {
    const supervisor = start();
    const cwd = temporaryDirectory();
    const print =
      'process.stdout.write(JSON.stringify([process.cwd(), Object.keys(process.env).filter((name) => !name.startsWith("UNWEDGE")), process.argv.slice(1)]))';
    const run = await supervisor.spawn(
      child([node, '-e', print, '$HOME'], { cwd, env: { ONLY: 'this' }, resolveArgs: () => ['; echo late'] }),
    );
    expect(JSON.parse((await run.wait()).stdout)).toEqual([cwd, ['ONLY'], ['$HOME', '; echo late']]);
    const shell = await supervisor.spawn({
      mode: 'anchored-shell',
      command: 'echo "$0-$((1+1))"',
      sessionId: 's',
      backendId: 'sh',
    });
    expect((await shell.wait()).stdout).toMatch(/sh-2\n$/);
  });

  it('[E-8] refuses what it cannot do, by name, rather than starting something else', async () => {
    const supervisor = start();
    const pty = { mode: 'pty', argv: ['vi'], sessionId: 's', backendId: 'b', runId: 'p' } as unknown as SpawnInput;
    await expect(supervisor.spawn(pty)).rejects.toThrow('Expected `mode` to be "child" or "anchored-shell", got "pty"');
    expect(supervisor.getRecord('p')).toMatchObject({ state: 'exited', terminationReason: 'spawn-error' });
    const secret = child(says('x'), { secretInput: { fd: 3 } } as never);
    await expect(supervisor.spawn(secret)).rejects.toThrow('`secretInput` is not supported');
    await expect(supervisor.spawn(child([]))).rejects.toThrow('Expected `argv` to begin with a program');
    const stale = child(says('x'), {
      assertCurrent: () => {
        throw new Error('a newer generation');
      },
    });
    await expect(supervisor.spawn(stale)).rejects.toThrow('a newer generation');
  });

  it('[E-8] cancels a scope, replaces what runs in it, and starts one after the other where one replaces', async () => {
    const supervisor = start();
    const scopeKey = 'cli:claude:1';
    const told: string[] = [];
    const first = await supervisor.spawn(child(sleeps, { scopeKey, onCancel: (reason) => told.push(reason) }));
    const other = await supervisor.spawn(child(sleeps, { scopeKey: 'cli:other' }));
    const order: string[] = [];
    void first.wait().then(() => order.push('first ended'));
    const [second, third] = await Promise.all([
      supervisor.spawn(
        child(sleeps, { scopeKey, replaceExistingScope: true, beforeSpawn: () => order.push('second') }),
      ),
      supervisor.spawn(child(sleeps, { scopeKey, beforeSpawn: () => order.push('third') })),
    ]);
    expect(order).toEqual(['first ended', 'second', 'third']);
    expect(told).toEqual(['manual-cancel']);
    supervisor.cancelScope(' ');
    supervisor.cancelScope(scopeKey, 'overall-timeout');
    expect(await Promise.all([second.wait(), third.wait()])).toMatchObject([
      { reason: 'overall-timeout' },
      { timedOut: true },
    ]);
    expect(isAlive(other.pid ?? 0)).toBe(true);
    supervisor.cancelAll();
    expect(await other.wait()).toMatchObject({ reason: 'manual-cancel' });
  });

  it('[E-8] cleans up a scope with what is just starting in it', async () => {
    const supervisor = start();
    const cleanup = supervisor.acquireScopeCleanup('scope', { processTree: 'required-all' });
    const running = await supervisor.spawn(child(sleeps, { scopeKey: 'scope' }));
    const late = supervisor.spawn(child(sleeps, { scopeKey: 'scope' }));
    const cleaned = cleanup();
    expect(cleanup()).toBe(cleaned);
    await cleaned;
    expect(isAlive(running.pid ?? 0)).toBe(false);
    const started = await late;
    expect(await started.wait()).toMatchObject({ reason: 'manual-cancel' });
    expect(started.pid).toBeUndefined();
    await (await supervisor.spawn(child(says('again'), { scopeKey: 'scope' }))).wait();
  });

  it('[E-8] shuts down with nothing left, and starts nothing afterwards', async () => {
    const supervisor = start();
    const run = await supervisor.spawn(child(sleeps));
    const first = supervisor.shutdown();
    expect(supervisor.shutdown()).toBe(first);
    await expect(supervisor.spawn(child(sleeps))).rejects.toThrow('process supervisor is shut down');
    await first;
    expect(isAlive(run.pid ?? 0)).toBe(false);
    expect(await run.wait()).toMatchObject({ reason: 'manual-cancel' });
  });

  it('[E-8] ends the runs of sessions that nobody tracks', async () => {
    const supervisor = start();
    const lost = await supervisor.spawn(child(sleeps, { runId: 'lost', sessionId: 'gone' }));
    const kept = await supervisor.spawn(child(sleeps, { runId: 'kept' }));
    expect(await supervisor.reconcileOrphans()).toEqual({ cancelledRunIds: [] });
    const reconciled = await supervisor.reconcileOrphans({ isSessionTracked: (id) => id === 'agent:main' });
    expect(reconciled).toEqual({ cancelledRunIds: ['lost'] });
    await lost.wait();
    expect(isAlive(kept.pid ?? 0)).toBe(true);
  });

  it('[E-8] runs under a gateway, in its tree and its events', async () => {
    const gateway = createGateway({ logger: false });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const told: string[] = [];
    gateway.on('process.started', ({ process: id }) => void told.push(id));
    const supervisor = start({ gateway });
    const run = await supervisor.spawn(child(sleeps, { runId: 'r' }));
    expect(told).toEqual([expect.stringMatching(/^run:r:\d+$/)]);
    expect(JSON.stringify(gateway.tree())).toContain('"run:r:');
    await gateway.stop();
    expect(await run.wait()).toMatchObject({ reason: 'manual-cancel' });
    expect(isAlive(run.pid ?? 0)).toBe(false);
  });

  it.each([
    [{ graceMs: 'soon' }, 'Expected `options.graceMs` to be a duration'],
    [{ gateway: {} }, 'Expected `options.gateway` to be made by createGateway'],
    [{ gateway: createGateway(), store: 'x.sqlite' }, 'Expected `options.store` to be left out beside `gateway`'],
    [{ graze: 1 }, 'Unknown option `options.graze`'],
  ])('[E-8] refuses %j', (options, message) => {
    expect(() => createProcessSupervisor(options as never)).toThrow(message);
  });

  it.skipIf(!hasSqlite)('[E-8] [S-8] the next start ends what kill -9 of the first process left behind', async () => {
    const directory = temporaryDirectory();
    const store = join(directory, 'processes.sqlite');
    const ready = join(directory, 'ready');
    const word = `orphan-${process.pid}`;
    const first = start();
    const owner = await first.spawn(child([node, fixture('openclawOwner.mjs'), store, word, ready]));
    await expect.poll(() => existsSync(ready)).toBe(true);
    process.kill(owner.pid ?? 0, 'SIGKILL');
    await owner.wait();
    await start({ store }).reconcileOrphans();
    await expect.poll(() => processesWith(word)).toEqual([]);
    expect(readFileSync(ready, 'utf8')).not.toBe('');
  });
});

function methods(...names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, expect.any(Function)]));
}
