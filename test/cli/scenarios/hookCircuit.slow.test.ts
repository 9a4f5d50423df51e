import { once } from 'node:events';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHookCircuit, openHookStore } from '../../../cli/hook/hookCircuit.ts';
import { leaseOwner } from '../../../src/runtime/leaseOwner.ts';
import type { PersistedBreaker } from '../../../src/policy/records/persistedBreaker.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/openStore.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { deferred } from '../../support/deferred.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { program, request, startHook } from '../startHook.ts';

const key = 'hook:guard';

/** A wrapped hook that crashes until its file is there. */
function startGuard() {
  const started = startHook();
  const file = join(started.directory, 'sound');
  // Of a run that has little time the database gets little: a busy machine needs more.
  const named = ['--name', 'guard', '--timeout', '1m'];

  async function withStore<T>(work: (store: Store) => T): Promise<T> {
    const store = await openStore({ path: started.db, clock: systemClock, facts: new RecordedFacts() });
    const result = work(store);
    await store.close();
    return result;
  }

  return {
    ...started,
    run: (...options: string[]) =>
      started.run([...named, ...options, '--', ...program('fail-once', file)], request('PreToolUse')),
    runNamed: (command: readonly string[], input: string) => started.run([...named, '--', ...command], input),
    async fail(times: number): Promise<void> {
      for (let count = 0; count < times; count++) await this.run();
    },
    mend: () => writeFileSync(file, ''),
    withStore,
    circuit: () => withStore(({ breakers }) => breakers.load(key)),
    /** Changes what is kept of the circuit, as time would. */
    keep: (change: Partial<PersistedBreaker>) =>
      withStore(({ breakers }) => {
        const row = breakers.load(key);
        if (row !== undefined) breakers.save(key, { ...row, ...change });
      }),
    marked: () => readdirSync(started.directory).some((name) => name.endsWith('-hook-guard')),
  };
}

describe.skipIf(!hasSqlite)('the circuit of a wrapped hook', () => {
  it('[H-3] [M-8] is open after 5 failures in a row: observers are skipped, guards decline', async () => {
    const guard = startGuard();
    const { run, mend, circuit, events } = guard;
    await guard.fail(4);
    expect(await circuit()).toMatchObject({ state: 'closed', failures: 4 });
    await run();
    expect(await circuit()).toMatchObject({ state: 'open', lastOpenMs: 60_000, openings: 1 });
    mend();
    expect(await run()).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('is not run for') as string,
    });
    expect(await run('--on-failure', 'block')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('declined') as string,
    });
    expect((await events()).map(({ event }) => event)).toEqual([
      ...Array.from({ length: 5 }, () => 'hook/error'),
      'breaker/opened',
      'integration/refused',
    ]);
    expect(guard.marked()).toBe(true);
  });

  it('[H-3] counts only failures in a row, and leaves no trace once the hook is sound', async () => {
    const guard = startGuard();
    await guard.fail(4);
    expect(guard.marked()).toBe(true);
    guard.mend();
    expect(await guard.run()).toMatchObject({ code: 0, stderr: '' });
    expect(await guard.circuit()).toMatchObject({ state: 'closed', failures: 0 });
    expect(guard.marked()).toBe(false);
  });

  it('[H-3] does not open the database while there is nothing to know', async () => {
    const { run, mend, db } = startGuard();
    mend();
    expect(await run()).toMatchObject({ code: 0 });
    expect(existsSync(db)).toBe(false);
  });

  it('[H-3] [M-8] is tried by one run once its time is over, and closed by its success', async () => {
    const guard = startGuard();
    await guard.fail(5);
    await guard.keep({ openUntil: 1 });
    guard.mend();
    expect(await guard.run()).toMatchObject({ code: 0, stderr: '' });
    expect(await guard.circuit()).toMatchObject({ state: 'closed', failures: 0, openings: 0 });
    expect((await guard.events()).at(-1)).toMatchObject({ event: 'breaker/closed', integration: key });
    expect(guard.marked()).toBe(false);
  });

  it('[H-3] [M-8] is open again when the run that tries it fails', async () => {
    const guard = startGuard();
    await guard.fail(5);
    await guard.keep({ openUntil: 1 });
    expect(await guard.run()).toMatchObject({ stderr: expect.stringContaining('crashed') as string });
    expect(await guard.circuit()).toMatchObject({ state: 'open', openings: 2 });
    expect(await guard.run()).toMatchObject({ stderr: expect.stringContaining('is not run for') as string });
  });

  it('[H-3] [M-8] is not tried while another process tries it', async () => {
    const guard = startGuard();
    await guard.fail(5);
    await guard.keep({ openUntil: 1 });
    await guard.withStore(({ breakers }) => {
      const generation = breakers.load(key)?.generation ?? 0;
      expect(breakers.claimProbe(key, generation, 'another', 60_000, Date.now())).toBe(true);
    });
    expect(await guard.run()).toMatchObject({ code: 0, stderr: expect.stringContaining('is not run for') as string });
  });

  it.skipIf(process.platform !== 'linux')('[H-3] [M-3] is tried at once when who tried it is gone', async () => {
    const guard = startGuard();
    await guard.fail(5);
    await guard.keep({ openUntil: 1 });
    await guard.withStore(({ breakers }) => {
      const { generation = 0 } = breakers.load(key) ?? {};
      breakers.claimProbe(key, generation, leaseOwner().replace(/~\d+@/, '~1@'), 60_000, Date.now());
    });
    guard.mend();
    expect(await guard.run()).toMatchObject({ code: 0, stderr: '' });
    expect(await guard.circuit()).toMatchObject({ state: 'closed' });
  });

  it('[H-3] gives the hook all of its input also while failures are on record', async () => {
    const guard = startGuard();
    await guard.fail(1);
    const input = `${request('PreToolUse')}${' '.repeat(1_000_000)}`;
    const { code, stdout } = await guard.runNamed(['cat'], input);
    expect({ code, isWhole: stdout === input }).toEqual({ code: 0, isWhole: true });
  });

  it('[H-3] does not follow a link that stands in the place of its trace', async () => {
    const guard = startGuard();
    const target = join(guard.directory, 'elsewhere');
    symlinkSync(target, `${guard.db}-hook-guard`);
    await guard.fail(1);
    expect(existsSync(target)).toBe(false);
  });

  it('[H-3] ended while it keeps its record leaves what was to be kept running', async () => {
    const guard = startGuard();
    await guard.fail(1);
    const database = openDatabase(guard.db);
    database.exec('BEGIN EXCLUSIVE');
    const child = guard.spawn(['--name', 'guard', '--keep-background', '--', 'sh', '-c', 'sleep 1000 & echo $!']);
    child.stdin.end(request('PreToolUse'));
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    child.kill('SIGTERM');
    const { exitCode } = await child;
    database.exec('ROLLBACK');
    expect(exitCode).toBe(143);
    expect(process.kill(pid, 'SIGKILL')).toBe(true);
  });

  it('[M-8] counts the failures of runs side by side', async () => {
    const guard = startGuard();
    await Promise.all(Array.from({ length: 5 }, () => guard.run()));
    expect(await guard.circuit()).toMatchObject({ state: 'open' });
  });

  it('is told from others by the name', async () => {
    const guard = startGuard();
    await guard.fail(5);
    expect(await guard.run('--name', 'other')).toMatchObject({
      stderr: expect.stringContaining('hook other: It crashed') as string,
    });
  });
});

describe.skipIf(!hasSqlite)('the record of a failed hook', () => {
  it('[H-3] [I-4] is said to be missing only where it is: what was given up is not written later', async () => {
    const { db, events } = startHook();
    const gate = deferred<void>();
    const closed = deferred<void>();
    const slow = createHookCircuit({
      name: 'guard',
      database: db,
      budgetMs: () => 1,
      async open(path, note) {
        await gate.promise;
        const store = await openHookStore(path, note);
        return { ...store, close: () => store.close().finally(() => closed.resolve()) };
      },
    });
    const circuit = createHookCircuit({ name: 'guard', database: db, budgetMs: () => 60_000 });
    const fail = (of: typeof circuit, message: string) =>
      of.failed({ kind: 'crash', message, counts: true }, undefined, { admitted: true });
    expect(await fail(slow, 'first')).toContain('did not answer within 1ms');
    gate.resolve();
    await closed.promise;
    expect(await fail(circuit, 'second')).toBeUndefined();
    expect(await events()).toMatchObject([{ error: 'second' }]);
  });

  it('[H-3] [I-4] is not said to be missing for what the database has to say on the way', async () => {
    const { db, events } = startHook();
    const circuit = createHookCircuit({
      name: 'guard',
      database: db,
      budgetMs: () => 60_000,
      open(path, note) {
        note('The store was slow');
        return openHookStore(path, note);
      },
    });
    const failed = circuit.failed({ kind: 'crash', message: 'first', counts: true }, undefined, { admitted: true });
    expect(await failed).toBeUndefined();
    expect(await events()).toMatchObject([{ error: 'first' }]);
  });
});
