import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../cli/io.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { databaseWith } from '../startCli.ts';
import { main } from '../startRun.ts';
import { failed, hasSqlite, openDatabase, type StartedStore, startStore, told } from '../../store/startStore.ts';

/** Follows the events of a store; between two looks the next step is taken, after the last one Ctrl-C is pressed. */
async function follow(
  words: readonly string[],
  started: StartedStore,
  steps: readonly (() => unknown)[] = [],
  columns = Infinity,
) {
  const controller = new AbortController();
  const left = [...steps];
  let stdout = '';
  let stderr = '';
  const io: Io = {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    isTTY: false,
    columns,
    signal: controller.signal,
    now: () => Date.UTC(2026, 0, 1),
    async pause() {
      const step = left.shift();
      if (step === undefined) controller.abort();
      else await step();
      await started.store.flush();
    },
  };
  const code = await runCommandLine(['events', '--follow', '--db', started.path, ...words], io);
  return { code, stdout, stderr, lines: stdout.trimEnd().split('\n') };
}

it.skipIf(!hasSqlite)(
  '[L-1] says of a name that nobody has that there is none, and waits for it all the same',
  async () => {
    const started = await startStore();
    started.store.record(failed(1));
    await started.store.flush();
    const come = () => started.store.record(failed(2, { integration: 'later' }));
    const { code, stdout, stderr } = await follow(['--integration', 'later'], started, [come, () => undefined]);
    expect([code, stderr]).toEqual([0, 'No events match yet. There is no integration "later"; known: kb.\n']);
    expect(stdout).toContain('later');
    const none = await follow(['--category', 'integraton'], started);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('did you mean integration?')]);
  },
);

async function startWith(count: number) {
  const started = await startStore();
  for (let index = 1; index <= count; index++) started.store.record(failed(index));
  await started.store.flush();
  const ids = async (words: readonly string[], steps: readonly (() => unknown)[] = []): Promise<unknown[]> => {
    const { stdout } = await follow(['--json', ...words], started, steps);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { metadata: { call: unknown } }).metadata.call);
  };
  return { ...started, ids, started };
}

describe.skipIf(!hasSqlite)('unwedge events --follow', () => {
  it('[L-5] tells events of one name apart from when runtimes take turns', async () => {
    const started = await startStore({ runtimePid: 7 });
    const { store: other } = await startStore({ path: started.path, clock: started.clock, runtimePid: 8 });
    started.store.record(failed(1));
    await started.store.flush();
    const record = async () => {
      other.record(failed(2));
      await other.flush();
    };
    const { stdout } = await follow([], started, [record, () => started.store.record(failed(3))]);
    expect(stdout.match(/\bkb\S*/g)).toEqual(['kb', 'kb', 'kb@7']);
  });

  it('[O-1] prints the newest events, then each that comes, once', async () => {
    const { ids, store } = await startWith(3);
    const more = (call: number) => () => store.record(failed(call));
    expect(await ids(['--limit', '2'], [more(4), () => undefined, more(5)])).toEqual([
      'call-2',
      'call-3',
      'call-4',
      'call-5',
    ]);
  });

  it('[L-2] prints one object a line with --json', async () => {
    const { started } = await startWith(2);
    const { lines } = await follow(['--json'], started);
    expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2]);
  });

  it('prints time, event, subject and what happened, a line each, in columns', async () => {
    const { started, store } = await startWith(1);
    const { lines } = await follow([], started, [
      () => store.record(told({ type: 'breaker.closed', integration: 'kb' })),
    ]);
    expect(lines[0]).toMatch(/^2026-01-01 .{12} {2}integration\/failure {11}kb {20}no answer within 30 s/);
    expect(lines[1]).toMatch(/^2026-01-01 .{12} {2}breaker\/closed {14}  kb$/);
  });

  it('narrows what comes as it narrows what is there', async () => {
    const { ids, store } = await startWith(1);
    const step = (): void => {
      store.record(failed(2, { integration: 'search' }));
      store.record(told({ type: 'breaker.closed', integration: 'search' }));
      store.record(failed(3, { integration: 'kb' }));
    };
    expect(await ids(['--integration', 'search', '--failed'], [step])).toEqual(['call-2']);
  });

  it('gives more at once than one look reads', async () => {
    const { ids, store, clock } = await startWith(0);
    const flood = async (): Promise<void> => {
      for (let call = 0; call < 2_500; call++) store.record(failed(call));
      const flushed = store.flush();
      await clock.settle();
      await flushed;
    };
    expect(new Set(await ids([], [flood])).size).toBe(2_500);
  });

  it('[O-7] goes on when every event was deleted, and ids begin anew', async () => {
    const { ids, path, store } = await startWith(3);
    const deleteAll = () => openDatabase(path).exec('DELETE FROM events');
    expect(await ids([], [deleteAll, () => store.record(failed(4))])).toEqual(['call-1', 'call-2', 'call-3', 'call-4']);
  });

  it('[O-2] says once that the file is gone, waits, and reads the one that takes its place', async () => {
    const { started, path, store } = await startWith(1);
    const other = await startStore();
    other.store.record(failed(7));
    await other.store.flush();
    await other.store.close();
    const { stdout, stderr } = await follow(['--json'], started, [
      () => store.close().then(() => renameSync(path, `${path}.away`)),
      () => undefined,
      () => renameSync(other.path, path),
    ]);
    expect(stdout).toContain('"call":"call-7"');
    expect(stderr.match(/Waiting for it/g)).toHaveLength(1);
  });

  it.each([60, 80, 120])('[L-6] shows the whole cause on a terminal of %d columns, and fits it', async (columns) => {
    const { started, store } = await startWith(0);
    const cause = 'the server exited with code 3 before it answered initialize; stderr: fatal: TOKEN is not set';
    store.record(failed(1, { failure: { ...failed(1).failure, message: cause } }));
    await store.flush();
    const { lines } = await follow([], started, [], columns);
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(columns === 60 ? cause.slice(0, 80) : cause);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  it('[O-1] says that there is nothing to follow, exit 1', async () => {
    const { started } = await startWith(1);
    const { code, stderr } = await follow(['--db', '/nonexistent/x.sqlite'], started);
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nonexistent/x.sqlite')]);
  });
});

describe.skipIf(!hasSqlite)('a command that goes on until it is told to end', () => {
  it.each([
    ['events', '--follow'],
    ['status', '--watch', '100ms'],
  ])('[L-1] exits with 130 at Ctrl-C: %s %s', async (...words) => {
    const child = spawn(process.execPath, [main, ...words, '--db', await databaseWith(failed(1))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.resume();
    child.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
  });
});
