import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { whyText } from '../../cli/whyText.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { failed, hasSqlite, openDatabase, startStore, told } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { call, databaseWith, runBuilt, runHere } from './startCli.ts';
import { startKept } from './startKept.ts';

/** A session of an earlier run on a database that a live gateway has, which does not have the session. */
async function startWithout(session: string) {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const before = createGateway({ store, logger: false });
  const made = before.session(session, { onMessage: () => undefined });
  await before.start();
  const sent = await made.send({ kind: 'user' });
  if (sent.accepted) await sent.processed;
  await before.stop();
  const gateway = createGateway({ store, logger: false });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return (...words: string[]) => call([...words, '--db', store], { now: Date.now });
}

describe.skipIf(!hasSqlite)('unwedge why of a session that no live gateway has', () => {
  it('[L-5] says that the gateway runs without it, and what starts it', async () => {
    const { code, stderr } = await (await startWithout('serve:h1'))('why', 'serve:h1');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /\(pid \d+, started (?:now|\S+ ago)\) runs, and does not have it now: its next message starts it there, such as `POST \/v1\/sessions\/h1\/messages`\.$/m,
    );
    expect(stderr).not.toContain('does not answer');
  });

  it('[L-5] suggests the session of `unwedge serve` for an id as HTTP takes it', async () => {
    const { stderr } = await (await startWithout('serve:main'))('why', 'main');
    expect(stderr).toContain('Did you mean "serve:main"?');
  });
});

describe.skipIf(!hasSqlite)('unwedge why', () => {
  it('[L-5] [G-6] says what a live session waits for, and which rule ends it', async () => {
    const { run } = await startKept();
    const { code, stdout, stderr } = await run('why', 'agent:main');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^agent:main processes agent:main-m1 \(user\) for \S+; 1 message waits\.\n/);
    expect(stdout).toMatch(
      /kb query \(agent:main-1-1\) for \S+: attempt 1 in flight, silent for \S+; idle_timeout in \S+\n/,
    );
    expect(stdout).toMatch(/Next: idle_timeout ends the attempt of query in \S+\.\n$/);
  });

  it('[L-2] gives the same as data', async () => {
    const { run } = await startKept();
    const { stdout } = await run('why', 'agent:main', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      live: true,
      session: 'agent:main',
      calls: [{ tool: 'query', progress: { phase: 'in_flight', attempt: 1 } }],
      next: { rule: 'idle_timeout' },
    });
  });

  it('[L-5] reads the records without a live gateway, and says what it cannot show', async () => {
    const { run, kill } = await startKept();
    await kill();
    const { code, stdout, stderr } = await run('why', 'agent:main');
    expect(code).toBe(0);
    expect(stdout).toMatch(/message agent:main-m1 \(user\) is taken, begun 1 time, accepted /);
    expect(stdout).toMatch(/message agent:main-m2 \(user\) is waiting, accepted /);
    expect(stdout).toMatch(/call agent:main-1-1: kb query pending, started .*; the next start answers it as unknown: /);
    expect(stderr).toContain('attempts, processes and circuits cannot be shown');
  });

  it('[L-5] names the nearest session for dead letters too', async () => {
    const { run } = await startKept();
    const { code, stderr } = await run('letters', 'agent:mian');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Did you mean "agent:main"?') as string,
    });
    expect(await run('letters', 'agent:main')).toMatchObject({ code: 0 });
  });

  it('[L-5] lists without a session all that wait and all circuits that are not closed, with the command for each', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const kb = gateway.integration('kb', {}, () => new Promise(() => undefined));
    const search = gateway.integration('search', {}, () => 'found');
    const desk = gateway.session('desk', {
      onMessage: (_message, turn) => turn.tool('kb', 'find').then(() => undefined),
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const run = (...words: string[]) => call(['why', ...words, '--db', db], { now: Date.now });
    expect(await run()).toEqual({
      code: 0,
      stdout: 'No session waits, and every circuit is closed.\n',
      stderr: '',
    });
    const called = gateway.wait('session.turn_started');
    await desk.send({ kind: 'user' });
    await called;
    const release = search.breaker.isolate();
    onTestFinished(kb.breaker.of('pay').isolate());
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(stdout).toContain(
      `! search is not called: somebody isolated it; its events say who and why, \`unwedge restart\` ends it\n  next: unwedge events --integration search --db ${db}\n`,
    );
    expect(stdout).toMatch(/^! kb: the circuit of its tool pay is held open by an operator$/m);
    expect((await run('kb')).stdout).toMatch(
      /^! kb: the circuit of its tool pay is held open by an operator\n {2}next: .*\nkb is an integration/,
    );
    expect(stdout).toMatch(/^! session desk waits for kb find for \S+; \S.* in \S+\n {2}next: unwedge why desk --db /m);
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({
      sessions: [{ session: 'desk' }],
      integrations: [{ integration: 'kb' }, { integration: 'search', circuit: 'isolated' }],
    });
    release();
    expect((await run()).stdout).not.toContain('search');
  });

  it.skipIf(!hasSqlite)(
    '[L-5] finds a session that waits on record however many others do not, and lists all with --all',
    async () => {
      vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
      const { store, path } = await startStore();
      await store.flush();
      const database = openDatabase(path);
      const keep = database.prepare(`INSERT INTO unwedge_sessions VALUES (?, 'gone', 1)`);
      for (let number = 0; number < 300; number++) keep.run(`idle-${number}`);
      const wait = database.prepare(
        `INSERT INTO unwedge_messages (session, number, body, state, posted_at) VALUES (?, 1, '{}', 'waiting', 0)`,
      );
      for (let number = 1; number <= 203; number++) {
        keep.run(`zebra-${number}`);
        wait.run(`zebra-${number}`);
      }
      const run = (...words: string[]) => call(['why', ...words, '--db', path], { now: Date.now });
      const first = (await run()).stdout;
      expect(first).toContain('session zebra-1 ');
      expect(first).toContain('… and 193 more: --all shows them');
      const { stdout } = await run('--all');
      expect(stdout.match(/^! session zebra-/gm)).toHaveLength(200);
      expect(stdout).toContain('! 3 more sessions wait on record\n');
      expect(await run('zebra-1', '--all')).toMatchObject({
        code: 2,
        stderr: 'unwedge: --all goes without a SESSION\n',
      });
    },
  );

  it('[L-5] tells beside a live session the open circuits of the integration that has its name, as a proxy has', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const kb = gateway.integration('kb', {}, () => 'found');
    gateway.session('kb', { onMessage: () => undefined });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const run = (...words: string[]) => call(['why', 'kb', ...words, '--db', db], { now: Date.now });
    const before = await run();
    expect([before.code, before.stdout]).toEqual([0, expect.not.stringContaining('!')]);
    onTestFinished(kb.breaker.of('pay').isolate());
    expect((await run()).stdout).toMatch(/\n! kb: the circuit of its tool pay is held open by an operator\n {2}next: /);
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({ live: true, session: 'kb', attention: [{}] });
  });

  it('[L-1] wants a session where a rule is to be fired', async () => {
    expect(await call(['why', '--fire'])).toMatchObject({
      code: 2,
      stderr: 'unwedge: --fire needs a SESSION; `unwedge why` lists those that wait\n',
    });
  });

  it('names the nearest session when there is none of the id', async () => {
    const { run } = await startKept();
    const { code, stderr } = await run('why', 'agent:mian');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Did you mean "agent:main"?')]);
  });

  it('[O-13] [L-5] [O-8] tells failed turns of which events alone are on record, as text and as data, without secrets', async () => {
    const secret = 'a planted secret that goes over more than one line of a terminal';
    const turn = { type: 'session.turn_failed', session: 'desk', kind: 'timeout', elapsedMs: 1 } as const;
    const db = await databaseWith(
      ...Array.from({ length: 7 }, (_, at) => ({
        ...told({ ...turn, turn: at, message: `desk-m${at}`, error: `no answer from ${secret}` }),
        at: Date.now() - 3_600_000 + at,
      })),
    );
    vi.stubEnv('PLANTED_SECRET', secret);
    const why = (...words: string[]) => call(['why', 'desk', '--db', db, ...words], { now: Date.now, columns: 60 });
    const { code, stdout } = await why();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Of desk only events are on record:\n {2}desk-m6 failed .* ago: timeout: no answer from /);
    expect(stdout.match(/desk-m\d/g)).toEqual(['desk-m6', 'desk-m5', 'desk-m4', 'desk-m3', 'desk-m2']);
    expect(stdout.replaceAll(/\s+/g, ' ')).not.toContain(secret);
    const json = await why('--json');
    expect([json.code, json.stdout.includes(secret)]).toEqual([0, false]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      live: false,
      failedTurns: [{ message: 'desk-m6', kind: 'timeout' }, {}, {}, {}, {}],
    });
  });

  it('[H-5] [L-5] tells in one line what a session repeats that only its hooks know, as text and as data', async () => {
    const spinning = { type: 'session.spinning', session: 's1', tool: 'Edit', step: 'end', form: 'failure' } as const;
    const message = 'Edit was called 20 times with the same arguments and failed alike each time';
    const at = Date.now() - 3000;
    const db = await databaseWith({ ...told({ ...spinning, count: 20, period: 1, message, answer: 'no match' }), at });
    const why = (...words: string[]) => call(['why', 's1', '--db', db, ...words], { now: () => at + 3000 });
    const { code, stdout } = await why();
    expect([code, stdout]).toEqual([
      0,
      `Of s1 only events are on record:\n  spinning (end), 3s ago: ${message}: no match\n`,
    ]);
    expect(JSON.parse((await why('--json')).stdout)).toMatchObject({
      failedTurns: [],
      spinning: [{ step: 'end', count: 20, answer: 'no match' }],
    });
  });

  it('[L-5] says of an integration what is known of it, live and on record', async () => {
    const { run, kill } = await startKept();
    const live = await run('why', 'kb');
    expect([live.code, live.stderr]).toEqual([0, '']);
    expect(live.stdout).toMatch(/^kb is an integration, .*\n {2}its circuit is closed; it has \d+ calls? in flight\n/);
    await kill();
    const db = await databaseWith(failed(1, { at: Date.now(), integration: 'search' }));
    const { stdout } = await runBuilt(['why', 'search', '--db', db]);
    expect(stdout).toMatch(
      /no running gateway or proxy has it\n {2}its last failure, (?:now|\S+ ago): timeout: no answer within 30 s\n/,
    );
    expect(stdout).toContain(` events --integration search --db ${db}\``);
    expect(stdout).toContain(
      '  of the last 24h: 0 calls, 1 failure (1 within 10m), 0 crashes\n  no alert of it is open\n',
    );
    const five = await databaseWith(
      ...[1, 2, 3, 4, 5].map((each) => failed(each, { at: Date.now(), integration: 'search' })),
    );
    expect((await runHere(['why', 'search', '--db', five])).stdout).toMatch(
      /its alert: nobody watches it; clears by itself/,
    );
    expect((await runHere(['why', 'serach', '--db', db])).stderr).toContain('Did you mean "search"?');
    const asked = await runHere(['why', 'search', '--json', '--db', db]);
    expect(JSON.parse(asked.stdout)).toMatchObject({ integration: 'search', circuit: 'closed', live: [] });
  });
});

describe('the words for a session that waits', () => {
  it('[L-5] name circuit, process, last failure and question, without control characters', () => {
    const text = whyText({
      session: 'agent:main',
      state: 'processing',
      waiting: 2,
      heldElsewhere: false,
      turn: { turn: 4, message: 'agent:main-m9', kind: 'user', delivery: 2, sinceMs: 130_000 },
      calls: [
        {
          call: 'agent:main-4-1',
          integration: 'kb',
          tool: 'query',
          sinceMs: 120_000,
          progress: {
            phase: 'backoff',
            attempt: 1,
            maxAttempts: 3,
            next: { id: '1:backoff', rule: 'next_attempt', inMs: 60 },
            lastFailure: { kind: 'transient', message: 'HTTP 503' },
          },
          target: {
            state: 'backoff',
            circuit: 'open',
            probeInMs: 5000,
            process: { pid: 4711, lastLine: 'warming\u001b[31m up' },
          },
        },
      ],
      questions: [{ question: 'turn-4:question-1', what: 'delete?', sinceMs: 1000, deadlineInMs: 29_000 }],
      rules: [],
      next: { id: 'turn-4:question-1', rule: 'question', inMs: 29_000, what: 'delete?' },
    });
    expect(text).toMatchInlineSnapshot(`
      "agent:main processes agent:main-m9 (user) for 2m10s, begun for the 2nd time; 2 messages wait.
        kb query (agent:main-4-1) for 2m: waits for its next attempt, after attempt 1 of 3; tried again in 60ms
          last attempt: transient: HTTP 503
          kb is backoff, circuit open, probe in 5s
          process 4711 said last: warming up
        asks a person for 1s: delete?; given up in 29s
      Next: nobody is waited for any more to answer delete? in 29s.
      "
    `);
    expect(text).not.toContain('\u001b');
  });
});
