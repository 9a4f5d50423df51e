import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type SessionOptions } from '../../../src/index.ts';
import { resultsDirectory } from '../../../src/store/paths.ts';
import { ResultFiles } from '../../../src/store/resultFiles.ts';
import { declared } from '../../../src/store/tables/declared.ts';
import { openDatabase } from '../../store/startStore.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { deferred } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runHere } from '../startCli.ts';

const name = 'whatsapp:+4179 "x"';
const quick = { limits: { idleMs: 50, attemptMs: 50, overallMs: 5000 }, retry: { maxAttempts: 1 } };
const planted = 'planted-words-of-a-person';

/** A gateway of this process with two sessions that said something, and the command line on its database. */
async function startSpoken(onMessage?: SessionOptions['onMessage'], url?: string) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const store = url ?? join(home, 'gateway.sqlite');
  const gateway = createGateway({ store, childGuard: false, inbox: true });
  onTestFinished(() => gateway.stop());
  gateway.integration('kb', { effect: 'readOnly' }, () => {
    throw new Error('503');
  });
  const handler: SessionOptions['onMessage'] = (message, turn) => turn.tool('kb', 'search', { words: message.text });
  const make = (id: string) =>
    gateway.session(id, {
      onMessage: onMessage ?? handler,
      budget: { day: { toolCalls: 100 } },
      watchdog: { releaseMs: 50 },
    });
  const [session, other] = [make(name), make('other')];
  await gateway.start();
  const say = async (to: typeof session, key = 'k') => {
    const sent = await to.send({ kind: 'user', text: planted }, { key });
    return sent.accepted ? sent.processed : undefined;
  };
  const run = (...words: string[]) => runHere([...words, '--db', store], { XDG_RUNTIME_DIR: home });
  return { gateway, session, other, make, say, run, store };
}

/** Every row of a file, as text, by table. */
function rowsIn(path: string): Readonly<Record<string, readonly string[]>> {
  const database = openDatabase(path);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return Object.fromEntries(
    tables.map(({ name: table }) => [
      String(table),
      database
        .prepare(`SELECT * FROM ${String(table)}`)
        .all()
        .map((row) => JSON.stringify(row)),
    ]),
  );
}

/** What is in a file and its log. */
const bytesOf = (path: string): Buffer =>
  Buffer.concat([path, `${path}-wal`].flatMap((each) => (existsSync(each) ? [readFileSync(each)] : [])));

const naming = (rows: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.values(rows)
    .flat()
    .filter((row) => row.includes('whatsapp:'));

describe('unwedge forget', () => {
  it('[G-18] says what there is, and erases nothing without --yes', async () => {
    const { say, session, run, store } = await startSpoken();
    await say(session);
    const before = naming(rowsIn(store)).length;
    const { code, stderr } = await run('forget', name);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Of .* is kept: messages: 1, tool calls: 1.*events: \d+\. Nothing was erased/s),
    ]);
    expect(naming(rowsIn(store)).length).toBeGreaterThanOrEqual(before);
  });

  it('[G-18] erases all of a session that a live gateway has, and nothing of others; nothing of it comes back', async () => {
    const { gateway, say, session, other, make, run, store } = await startSpoken();
    await Promise.all([say(session), say(other)]);
    await gateway.store?.flush();
    expect(naming(rowsIn(store))).not.toEqual([]);
    const ran = await run('forget', name, '--yes');
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/was erased: messages: 1, tool calls: 1/)]);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'closed' });
    await gateway.store?.flush();
    const rows = rowsIn(store);
    expect(naming(rows)).toEqual([]);
    expect(rows['unwedge_messages']).toHaveLength(1);
    expect(rows['unwedge_sessions']).toHaveLength(1);
    expect(rows['events']?.some((row) => row.includes('forgot'))).toBe(true);
    expect(other.history).toHaveLength(3);
    const again = make(name);
    await say(again);
    expect(again.history).toHaveLength(3);
    await gateway.store?.flush();
    expect(naming(rowsIn(store))).not.toEqual([]);
  });

  it('[P-12] [G-18] erases its large results, with a gateway and without, and not those of others', async () => {
    const { gateway, say, session, other, run, store } = await startSpoken();
    await Promise.all([say(session), say(other)]);
    const files = new ResultFiles(resultsDirectory(store, {}), Date.now);
    const keep = (owner: string): string => files.keep(owner, Buffer.from(planted));
    const isKept = (owner: string, handle: string): boolean => files.read(owner, handle, 0, 1) !== undefined;
    const [own, others] = [keep(name), keep('other')];
    expect((await run('forget', name, '--yes')).code).toBe(0);
    expect([isKept(name, own), isKept('other', others)]).toEqual([false, true]);
    await gateway.stop();
    const refused = await run('forget', 'other');
    expect([refused.code, isKept('other', others)]).toEqual([1, true]);
    expect((await run('forget', 'other', '--yes')).code).toBe(0);
    expect(isKept('other', others)).toBe(false);
  });

  it('[G-18] erases it where no gateway runs, one that was killed included', async () => {
    const { gateway, say, session, run, store } = await startSpoken();
    await say(session);
    await gateway.stop();
    // Its budget was spent.
    openDatabase(
      store,
    ).exec(`INSERT INTO unwedge_alerts (id, integration, because, kind, message, failures, crashes, raised_at, last_failure_at)
      VALUES ('a', 'session:${name}', 'budget', 'budget', '', 1, 0, 1, 1)`);
    expect((await run('forget', name, '--yes')).code).toBe(0);
    expect(naming(rowsIn(store))).toEqual([]);
    const { code, stderr } = await run('forget', name, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('No session')]);
  });

  it('[G-18] refuses one that is under way, unless it is closed', async () => {
    const begun = deferred<void>();
    const { session, run, store } = await startSpoken((_message, { signal }) => {
      begun.resolve(undefined);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    const [cut, waits] = [await session.send({ kind: 'user' }), await session.send({ kind: 'user' })];
    await begun.promise;
    const { code, stderr } = await run('forget', name, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--close')]);
    expect(naming(rowsIn(store))).not.toEqual([]);
    expect((await run('forget', name, '--yes', '--close')).code).toBe(0);
    for (const sent of [cut, waits])
      expect(sent.accepted && (await sent.processed)).toMatchObject({ failure: { reason: 'closed' } });
    expect(naming(rowsIn(store))).toEqual([]);
  });

  it('[G-18] refuses messages that wait in a file without a gateway, unless they are given up', async () => {
    const { gateway, session, run, store } = await startSpoken(() => new Promise(() => undefined));
    await session.send({ kind: 'user' });
    await gateway.stop();
    expect((await run('forget', name, '--yes')).code).toBe(1);
    expect((await run('forget', name, '--yes', '--close')).code).toBe(0);
    expect(naming(rowsIn(store))).toEqual([]);
  });

  it('[G-18] leaves nothing of it in the bytes of the file', async () => {
    const { gateway, say, session, other, run, store } = await startSpoken();
    for (let turn = 0; turn < 20; turn++)
      // Often enough for pages to be split, and the circuit to open.
      for (const each of [session, other]) await say(each, String(turn));
    await gateway.store?.flush();
    expect(bytesOf(store).includes('whatsapp:')).toBe(true);
    expect((await run('forget', name, '--yes')).code).toBe(0);
    await gateway.store?.flush();
    await gateway.stop();
    const bytes = bytesOf(store);
    const left = ['whatsapp:', '+4179'].map((text) => [text, bytes.toString('latin1').split(text).length - 1]);
    expect(left).toEqual([
      ['whatsapp:', 0],
      ['+4179', 0],
    ]);
    expect(bytes.includes('other')).toBe(true);
  });

  it('[G-18] [I-1] has no gateway wait while a file of more than 5 MB is written anew: then it says that copies may be left', async () => {
    const { gateway, session, other, run, store } = await startSpoken(() => undefined);
    const large = (text: string) => ({ kind: 'user', text: text.repeat(100_000) });
    for (let number = 0; number < 8; number++) await other.send(large('0123456789'));
    await session.send({ kind: 'user', text: planted });
    await gateway.store?.flush();
    expect((await run('forget', name, '--yes')).stdout).toMatch(
      /Free parts of the file .* `VACUUM` .* while no gateway runs/,
    );
    await gateway.stop();
    const before = statSync(store).size;
    expect(before).toBeGreaterThan(5_000_000);
    expect((await run('forget', 'other', '--yes')).stdout).not.toContain('Free parts');
    expect(statSync(store).size).toBeLessThan(before / 10);
  });

  it('[G-18] [G-17] refuses one for which a person is asked, unless it is closed: then nobody is asked any more', async () => {
    const { gateway, say, session, run, store } = await startSpoken();
    await say(session);
    const answer = gateway.approval('deploys')({ action: planted, session: name });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    expect((await run('forget', name, '--yes')).stderr).toContain('--close');
    expect((await run('forget', name, '--yes', '--close')).code).toBe(0);
    expect(await answer).toMatchObject({ decision: 'decline' });
    expect(await gateway.inbox?.open()).toEqual([]);
    await gateway.store?.flush();
    expect(naming(rowsIn(store))).toEqual([]);
  });

  it('[G-18] [G-17] refuses open questions in a file without a gateway; those whose time is over are no matter', async () => {
    const { gateway, say, session, run, store } = await startSpoken();
    await say(session);
    void gateway.approval('deploys')({ action: planted, session: name, place: 'one' });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    await gateway.stop();
    const { code, stderr } = await run('forget', name, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 messages, calls or questions')]);
    openDatabase(store).exec('UPDATE unwedge_questions SET deadline_at = 1');
    expect((await run('forget', name, '--yes')).code).toBe(0);
    expect(naming(rowsIn(store))).toEqual([]);
  });

  it('[G-18] [R-18] erases late answers that a live gateway remembers, and ends what is kept', async () => {
    const answers: ReturnType<typeof deferred<string>>[] = [];
    const { gateway, session, make, run } = await startSpoken((message, turn) =>
      turn.tool('ci', 'build', message.data),
    );
    gateway.integration('ci', { effect: 'mutating', keepMs: '10m', policy: quick }, () => {
      answers.push(deferred<string>());
      return answers.at(-1)?.promise;
    });
    const build = async (to: typeof session, data: string) => {
      const sent = await to.send({ kind: 'user', data });
      return sent.accepted ? sent.processed : undefined;
    };
    const timedOut = { value: { status: 'error', kind: 'timeout', keptUntil: expect.any(Number) as number } };
    expect(await build(session, 'one')).toMatchObject(timedOut);
    answers[0]?.resolve('an answer of before');
    expect(await build(session, 'two')).toMatchObject(timedOut);
    expect((await run('forget', name, '--yes')).stderr).toContain('--close');
    expect((await run('forget', name, '--yes', '--close')).code).toBe(0);
    const again = make(name);
    expect(await build(again, 'one')).toMatchObject(timedOut);
    expect(answers).toHaveLength(3);
    answers[1]?.resolve('of before, too');
    expect(await build(again, 'two')).toMatchObject(timedOut);
    expect(answers).toHaveLength(4);
  });

  it('[G-18] [R-18] nothing of a call that is kept comes to be on record after it', async () => {
    const answer = deferred<string>();
    const { gateway, session, run, store } = await startSpoken((_message, turn) => turn.tool('ci', 'build'));
    gateway.integration('ci', { effect: 'mutating', keepMs: '10m', policy: quick }, () => answer.promise);
    const sent = await session.send({ kind: 'user' });
    await (sent.accepted && sent.processed);
    expect((await run('forget', name, '--yes', '--close')).code).toBe(0);
    answer.resolve(planted);
    await gateway.store?.flush();
    await gateway.stop();
    expect(naming(rowsIn(store))).toEqual([]);
    expect(JSON.stringify(rowsIn(store))).not.toContain(planted);
  });

  it('[G-18] erases one that is named again as soon as it is closed', async () => {
    const { gateway, say, session, make, run, store } = await startSpoken();
    await say(session);
    let again = 2;
    gateway.on('session.closed', () => {
      if (again-- > 0) void say(make(name));
    });
    const { code, stderr } = await run('forget', name, '--yes', '--close');
    expect([code, stderr]).toEqual([0, '']);
    expect(again).toBeLessThan(0);
    expect(naming(rowsIn(store))).toEqual([]);
  });

  it('[G-18] says so of one that is named again each time', async () => {
    const { gateway, say, session, make, run } = await startSpoken();
    await say(session);
    gateway.on('session.closed', () => void make(name));
    const { code, stderr } = await run('forget', name, '--yes', '--close');
    expect([code, stderr]).toEqual([1, expect.stringContaining('was named again')]);
  });

  it('[G-18] erases all of it on PostgreSQL', async () => {
    const { url, ask } = await newSchema();
    const { gateway, say, session, other, run } = await startSpoken(undefined, url);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await Promise.all([say(session, key), say(other, key)]);
    await gateway.store?.flush();
    expect(await ask("SELECT 1 FROM uw.breaker WHERE cause LIKE '%whatsapp:%'")).toHaveLength(1);
    expect((await run('forget', name)).stderr).toContain('messages: 6, tool calls: 6');
    const ran = await run('forget', name, '--yes');
    expect([ran.code, ran.stderr, ran.stdout]).toEqual([
      0,
      '',
      expect.stringMatching(/erased: messages: 6, tool calls: 6/),
    ]);
    await gateway.store?.flush();
    const tables = await ask("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'uw_schema'");
    expect(tables.length).toBeGreaterThan(10);
    for (const { name: table } of tables) {
      const rows = await ask(`SELECT row_to_json(t)::text AS row FROM uw.${String(table)} t`);
      expect([table, rows.filter(({ row }) => String(row).includes('whatsapp:'))]).toEqual([table, []]);
    }
    expect(await ask('SELECT DISTINCT session FROM uw.message')).toEqual([{ session: 'other' }]);
  });
});

describe('the tables', () => {
  it('[G-18] say each whose rows are of a session: one with a column that names one is erased by it', () => {
    const wrong = declared.filter(([, { columns, session }]) => {
      const named = /^ +(session\w*) text/m.exec(columns)?.[1];
      return named !== undefined && (!('of' in session) || session.of !== `t.${named} = :session`);
    });
    expect(wrong).toEqual([]);
  });
});
