import { describe, expect, it } from 'vitest';
import { noFigures } from '../../src/policy/records/callFigures.ts';
import { failed, hasSqlite, startStore, told } from '../store/startStore.ts';
import { call, databaseWith } from './startCli.ts';

const start = Date.UTC(2026, 0, 1);

async function startWithEvents() {
  const db = await databaseWith(
    failed(1, { integration: 'kb' }),
    failed(2, { integration: 'search' }),
    told({ type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'timeout' }),
  );
  const ids = async (...words: string[]) => {
    const { stdout } = await call(['events', '--json', '--db', db, ...words], { now: () => start + 1_000 });
    return (JSON.parse(stdout) as { id: number }[]).map(({ id }) => id);
  };
  return { db, ids };
}

describe.skipIf(!hasSqlite)('unwedge events', () => {
  it('[L-1] narrows by category, integration, failure and number', async () => {
    const { ids } = await startWithEvents();
    expect(await ids()).toEqual([1, 2, 3]);
    expect(await ids('--category', 'breaker')).toEqual([3]);
    expect(await ids('--integration', 'kb')).toEqual([1, 3]);
    expect(await ids('--failed')).toEqual([1, 2]);
    expect(await ids('--limit', '1')).toEqual([3]);
  });

  it('[L-1] narrows to one session, its calls included, and says which id was meant', async () => {
    const db = await databaseWith(
      failed(1, { integration: 'kb', session: 'agent:main' }),
      failed(2, { integration: 'kb', session: 'agent:other' }),
      told({ type: 'session.started', session: 'agent:main', incarnation: 1 }),
    );
    const ask = (...words: string[]) => call(['events', '--db', db, ...words], { now: () => start + 1_000 });
    const { stdout } = await ask('--json', '--session', 'agent:main');
    expect((JSON.parse(stdout) as { id: number }[]).map(({ id }) => id)).toEqual([1, 3]);
    expect((await ask('--session', 'agent:mian')).stderr).toContain(
      'No session "agent:mian" is known. Did you mean "agent:main"?',
    );
  });

  it('[L-3] narrows by age', async () => {
    const { ids } = await startWithEvents();
    expect([await ids('--since', '998ms'), await ids('--since', '997ms')]).toEqual([[2], []]);
  });

  it('prints time, event, subject and what happened, the error first', async () => {
    const { db } = await startWithEvents();
    const [heading, ...lines] = (await call(['events', '--db', db])).stdout.split('\n');
    expect(heading).toMatch(/^TIME +EVENT +OF +WHAT$/);
    expect(lines[0]).toMatch(
      / {2}integration\/failure {2}kb {6}no answer within 30 s \(timeout after 3 retries in \w+; call call-\d; .*\)$/,
    );
    expect(lines[2]).toMatch(/ {2}breaker\/opened {7}kb {6}open_for_ms=60000 kind=timeout$/);
  });

  it('[O-9] says which rule opened a circuit, after the error, and folds it at 80 columns', async () => {
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const opened = { type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'transient' } as const;
    const db = await databaseWith(told({ ...opened, rule, cause: 'HTTP 503' }));
    const text = 'HTTP 503 (10 of the last 20 attempts failed, failureRatio 0.5; open_for_ms=60000 kind=transient)';
    expect((await call(['events', '--db', db])).stdout).toContain(text);
    const narrow = await call(['events', '--db', db], { columns: 80 });
    expect(narrow.stdout.replaceAll(/\s+/g, ' ')).toContain(text);
    expect(Math.max(...narrow.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    const { stdout } = await call(['events', '--json', '--db', db]);
    expect(JSON.parse(stdout)).toMatchObject([{ type: 'opened', metadata: { rule, kind: 'transient' } }]);
  });

  it('[I-4] paints red what went wrong, and not what the caller cancelled', async () => {
    const lost = { type: 'mcp.calls_lost', integration: 'fs', repeated: 1, message: 'exited' } as const;
    const turn = { type: 'session.turn_failed', session: 's', turn: 1, message: 'm', elapsedMs: 1 } as const;
    const db = await databaseWith(
      told({ ...turn, kind: 'unknown', error: 'boom' }),
      told({ ...turn, kind: 'cancelled', error: 'stopped' }),
      told({ ...lost, lost: 0 }),
      told({ ...lost, lost: 1 }),
    );
    const { stdout } = await call(['events', '--db', db], { isTTY: true });
    const isRed = stdout.split('\n').map((line) => line.includes('\u001b[31m'));
    expect(isRed.slice(1, 5)).toEqual([true, false, false, true]);
  });

  it('[L-2] lets no escape of a child into its table', async () => {
    const db = await databaseWith(
      told({
        type: 'child.crashed',
        child: 'k\u009bb',
        path: ['root', 'k\u009bb'],
        incarnation: 1,
        elapsedMs: 5,
        error: '\u001b[2Jboom\nnext',
        queued: 0,
        restarts: 0,
        next: 'restart',
      }),
    );
    const { stdout } = await call(['events', '--db', db], { isTTY: false });
    expect(stdout).toMatch(/^[\n -~]*$/);
    expect(stdout).toContain('boom next');
  });

  it('[L-5] tells events of one name apart that several runtimes have recorded, and no others', async () => {
    const { store, path, clock } = await startStore({ runtimePid: 7 });
    store.record(failed(1));
    await store.flush();
    const { store: other } = await startStore({ path, clock, runtimePid: 8 });
    other.record(failed(2));
    other.record(failed(3, { integration: 'fs' }));
    await other.flush();
    store.record(failed(4));
    await store.flush();
    const { stdout } = await call(['events', '--db', path]);
    expect(stdout.match(/\b(?:kb|fs)\S*/g)).toEqual(['kb@7', 'kb@8', 'fs', 'kb@7']);
    expect(stdout).not.toContain('runtime_pid');
    const alone = await call(['events', '--limit', '2', '--db', path]);
    expect(alone.stderr).toBe('The last 2 of 4 events; --limit N shows more.\n');
    expect((await call(['events', '--limit', '4', '--db', path])).stderr).toBe('');
    expect((await call(['events', '--limit', '2', '--json', '--db', path])).stderr).toBe('');
    expect(alone.stdout.match(/\b(?:kb|fs)\S*/g)).toEqual(['fs', 'kb']);
  });

  it('[L-2] uses colours on a terminal, unless NO_COLOR is set', async () => {
    const { db } = await startWithEvents();
    const coloured = async (env: Record<string, string>) =>
      (await call(['events', '--db', db], { isTTY: true, env })).stdout.includes('\u001b[31m');
    expect([await coloured({}), await coloured({ NO_COLOR: '1' }), await coloured({ TERM: 'dumb' })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('fits the terminal', async () => {
    const { db } = await startWithEvents();
    const { stdout } = await call(['events', '--db', db], { columns: 70 });
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(70);
  });

  it.each([60, 80, 120])('[L-6] folds an event in %i columns: its end says whether to try again', async (columns) => {
    const message = `CLI exceeded timeout (2s) and was terminated; Claude said last: ${'it waits for its API, '.repeat(9)}it said`;
    const { failure } = failed(1);
    const db = await databaseWith(failed(1, { failure: { ...failure, message, retryable: false, status: 529 } }));
    const signal = AbortSignal.abort();
    for (const words of [['events'], ['events', '--follow']]) {
      const { stdout } = await call([...words, '--db', db], { columns, signal });
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(message);
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/not to be tried again as it is; .*status=529/);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  it('[L-5] does not take one run after the other for several at a time', async () => {
    const { store, path, clock } = await startStore({ runtimePid: 7 });
    store.record(failed(1));
    await store.close();
    const { store: next } = await startStore({ path, clock, runtimePid: 8 });
    next.record(failed(2));
    await next.close();
    expect((await call(['events', '--db', path])).stdout.match(/\bkb\S*/g)).toEqual(['kb', 'kb']);
  });

  it('[L-1] says on stderr that nothing matches, with the nearest name there is', async () => {
    const { db } = await startWithEvents();
    const { code, stdout, stderr } = await call(['events', '--db', db, '--integration', 'serch']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('No events match. There is no integration "serch"; did you mean "search"?\n');
    const far = await call(['events', '--db', db, '--integration', 'nosuchthing']);
    expect(far.stderr).toMatch(/^No events match\. There is no integration "nosuchthing"; known: .*kb.*search.*\.\n$/);
    expect(await call(['events', '--db', db, '--category', 'hook'])).toMatchObject({
      code: 0,
      stderr: 'No events match.\n',
    });
  });

  it('[O-9] shows the stderr of a crashed server under the name of its integration, also as it is printed', async () => {
    const { store, path } = await startStore({ runtimePid: 7 });
    const crash = { incarnation: 1, elapsedMs: 5, queued: 0, restarts: 0, next: 'restart' } as const;
    store.record(told({ type: 'child.crashed', child: 'mcp:kb', path: [], error: 'exit; stderr: boom', ...crash }));
    store.record(failed(1, { integration: 'search' }));
    await store.flush();
    for (const name of ['kb', 'mcp:kb', 'kb@7', 'mcp:kb@7']) {
      const { stdout } = await call(['events', '--db', path, '--integration', name]);
      expect(stdout).toMatch(/child\/crashed +mcp:kb +exit; stderr: boom/);
      expect(stdout).not.toContain('search');
    }
    expect((await call(['events', '--db', path, '--integration', 'kb@8'])).stdout).toBe('');
  });

  it('[O-9] never says of an integration that was called that there is none', async () => {
    const { store, clock, path } = await startStore();
    store.statistics.add([{ integration: 'shop', tool: undefined, minute: 0, ...noFigures, succeeded: 3 }]);
    const flushed = store.flush();
    await clock.settle();
    await flushed;
    const ask = async (name: string) => (await call(['events', '--db', path, '--integration', name])).stderr;
    store.record(failed(1, { integration: 'search' }));
    await store.flush();
    expect(await ask('shop')).toBe('No events match. "shop" is known: see `unwedge status` and `unwedge report`.\n');
    expect(await ask('shap')).toContain('There is no integration "shap"; did you mean "shop"?');
  });

  it('[L-1] takes what was cancelled for no failure, and says where it is when there is nothing else', async () => {
    const { failure } = failed(1);
    const cancelled = { ...failure, kind: 'cancelled', message: 'Cancelled: ended by SIGINT' } as const;
    const [job, kb] = [{ integration: 'job', failure: cancelled }, { integration: 'kb' }];
    const db = await databaseWith(failed(1, job), failed(2, job), failed(3, kb));
    const ask = async (name: string) => call(['events', '--failed', '--integration', name, '--db', db]);
    expect(await ask('job')).toMatchObject({
      stdout: '',
      stderr:
        'No events match. 2 events are of what was cancelled, which is no failure: leave out --failed to see it.\n',
    });
    expect((await ask('kb')).stderr).toBe('');
    expect((await call(['events', '--integration', 'job', '--db', db])).stdout).toContain('Cancelled: ended by SIGINT');
  });

  it('[L-6] says how events come into being where there are none', async () => {
    const { code, stderr } = await call(['events', '--failed', '--db', await databaseWith()]);
    expect([code, stderr]).toEqual([
      0,
      'No events are on record: gateways, proxies and `unwedge run` with this database record them.\n',
    ]);
  });

  it('[L-1] refuses a category that there is not, with the nearest one', async () => {
    const { db } = await startWithEvents();
    expect(await call(['events', '--db', db, '--category', 'sesion'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'unwedge: Unknown category "sesion"; did you mean session?\n',
    });
    expect((await call(['events', '--db', db, '--category', 'zzz'])).stderr).toContain(
      'it is one of acp, agent, alert, ',
    );
  });
});
