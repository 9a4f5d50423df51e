import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Io } from '../../../cli/io.ts';
import type { ReplayResult } from '../../../incident/replay/compare.ts';
import { PgSessions } from '../../../postgres/pgSessions.ts';
import { hasPostgres, postgresServer } from '../../support/postgresServer.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { call, databaseWith, type Ran } from '../startCli.ts';
import { everything } from '../startServe.ts';

const secret = 'hunter2secret';

/** A new schema, and the command line on it at 80 columns. The URL has a password: no command may say it. */
async function startDatabase() {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const { url, ask, schema } = await newSchema();
  const db = `${url.replace('postgres@', `postgres:${secret}@`)}&leaseMs=2500`;
  const run = async (words: readonly string[], given: Partial<Io> = {}): Promise<Ran> => {
    const ran = await call([...words, '--db', db], { columns: 80, now: () => Date.now(), ...given });
    expect(`${ran.stdout}${ran.stderr}`).not.toContain(secret);
    return ran;
  };
  return { ask, schema, db, run };
}

/** A gateway on it whose session has a call of `kb` that hangs, and one that failed of `down`. */
async function startGateway() {
  const database = await startDatabase();
  const gateway = createGateway({ store: database.db, logger: false });
  const policy = { breaker: { consecutiveFailures: 1 }, retry: { maxAttempts: 1 } };
  const down = gateway.integration('down', { policy }, () => Promise.reject(new Error('gateway closed (1012)')));
  gateway.integration('kb', {}, (_input, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  });
  const session = gateway.session('agent:main', {
    onMessage: async (_message, turn) => void (await turn.tool('kb', 'search')),
  });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  // A failure while this process stands still opens no circuit.
  const opens = async () => (await down.call('x'), down.state);
  await expect.poll(opens).toBe('open');
  await session.send({ kind: 'user', text: 'please search' });
  await expect.poll(() => session.why().calls).toHaveLength(1);
  return { ...database, gateway, session };
}

/** Of what is no command: those stay whole, so that they can be copied. */
const widest = (text: string): number => {
  const lines = text.split('\n').filter((line) => !line.includes('unwedge '));
  return Math.max(...lines.map((line) => line.length));
};

describe.skipIf(!hasPostgres)('the command line on a PostgreSQL database', () => {
  it('[N-1] [O-9] shows what a gateway has written there, and asks the gateway', async () => {
    const { run, schema } = await startGateway();
    const { port } = await postgresServer();
    await expect.poll(async () => (await run(['events'])).stdout).toContain('opened');
    const status = await run(['status']);
    expect(status.stdout).toContain(`postgres://127.0.0.1:${port}/`);
    expect(status.stdout).toContain(`schema=${schema}`);
    expect(status.stdout).toMatch(/Live: .* \(pid \d+ on [^,]+, started/);
    expect(status.stdout).toMatch(/down\s+open/);
    const data = JSON.parse((await run(['status', '--json'])).stdout) as { runtimes: object[]; integrations: object[] };
    expect(data.runtimes).toMatchObject([{ answered: true, pid: process.pid }]);
    expect((await run(['status', '--tree'])).stdout).toContain('session:agent:main');
    const why = await run(['why', 'agent:main']);
    expect(why.stdout).toContain('kb search (agent:main-1-1)');
    expect((await run(['events', '--failed'])).stdout).toContain('1012');
    expect((await run(['alerts'])).code).toBe(0);
    expect((await run(['letters'])).stdout).toBe('No dead letters.\n');
    expect((await run(['report'])).code).toBe(0);
    expect((await run(['metrics'])).stdout).toContain('unwedge_');
    const wide = [status, why, await run(['alerts']), await run(['report'])].map(({ stdout }) => widest(stdout));
    expect(Math.max(...wide)).toBeLessThanOrEqual(80);
  });

  it('[N-1] [O-13] gives orders to the gateway, and says what it does not know', async () => {
    const { run, session } = await startGateway();
    expect((await run(['probe', 'down'])).stderr).not.toContain('No gateway');
    expect(await run(['cancel', 'agent:main'])).toMatchObject({ code: 0 });
    await expect.poll(() => session.why().turn).toBeUndefined();
    expect(await run(['restart', 'nobody'])).toMatchObject({ code: 1 });
    const unknown = await run(['why', 'agent:mian']);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean "agent:main"?') as string });
  });

  it('[N-1] [O-16] writes an incident, which replays', async () => {
    const { run, gateway } = await startGateway();
    await expect.poll(async () => (await run(['events'])).stdout).toContain('opened');
    const folder = join(temporaryDirectory(), 'incident');
    const made = await run(['incident', 'down', '--out', folder]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(folder) as string });
    await gateway.stop();
    const played = await call(['replay', folder, '--json']);
    expect(`${played.stdout}${played.stderr}`).not.toContain(secret);
    const { lines } = JSON.parse(played.stdout) as ReplayResult;
    // Not when: on a machine so busy as to hold it up, the circuit opens late.
    const ends = lines.map(({ of, recorded, replayed }) => ({
      of,
      recorded: recorded?.what,
      replayed: replayed?.what,
    }));
    const failed = 'failed: transient, 1 attempt';
    expect(ends).toContainEqual({ of: 'down-1', recorded: failed, replayed: failed });
    const opened = 'opened: transient';
    expect(ends).toContainEqual({ of: 'circuit of down', recorded: opened, replayed: opened });
    expect(ends.filter(({ recorded, replayed }) => recorded !== replayed)).toEqual([]);
  });

  it('[N-1] [O-1] follows the events that come', async () => {
    const { run } = await startGateway();
    const ends = new AbortController();
    let stdout = '';
    const following = run(['events', '--follow', '--category', 'operator'], {
      signal: ends.signal,
      stdout: { write: (text) => (stdout += text) },
    });
    await run(['restart', 'kb']);
    await expect.poll(() => stdout).toContain('restarted');
    ends.abort();
    await following;
    expect(stdout.match(/restarted/g)).toHaveLength(1);
  });

  it('[N-1] [O-13] serves the dashboard of it', async () => {
    const { run, db } = await startDatabase();
    const gateway = createGateway({ store: db, logger: false, control: false });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const ends = new AbortController();
    let url = '';
    const serving = run(['dashboard'], {
      signal: ends.signal,
      stdout: { write: (text) => (url += text) },
      stderr: { write: (text) => (url += text) },
    });
    await expect.poll(() => url).toMatch(/^postgres:\/\/127\.0\.0\.1:\d+\/\S+:\nhttp:/);
    expect(url).not.toContain(secret);
    ends.abort();
    expect((await serving).code).toBe(0);
  });

  it('[N-1] [N-6] shows on which machine a gateway runs, and says where orders to it are given', async () => {
    const { run, ask, gateway } = await startGateway();
    await gateway.stop();
    await ask(`INSERT INTO uw.runtime (id, host, pid, process_start, started_at, renewed_at, name, socket)
      VALUES ('r2', 'web-2', 4711, '1@boot@ns', 1, 1, 'gateway.mjs', '/run/there.sock')`);
    const status = await run(['status']);
    const words = status.stdout.replaceAll(/\s+/g, ' ');
    expect(words).toMatch(
      /Live: gateway\.mjs \(pid 4711 on web-2, started [^)]+\) takes orders on its own machine alone: give them there/,
    );
    expect(words).toContain('No gateway of this machine runs on it');
    const order = await run(['cancel', 'agent:main']);
    expect(order.code).toBe(1);
    expect(order.stderr).toContain('gateway.mjs (pid 4711) runs on web-2 and may have it: give the order there.');
    await ask(`UPDATE uw.runtime SET seen_at = clock_timestamp() - interval '6 min'`);
    expect((await run(['status'])).stdout).not.toContain('Live:');
  });

  describe('with dead letters', () => {
    async function startLetters() {
      const database = await startDatabase();
      const { db, ask } = database;
      const start = async (onMessage: (text: string | undefined) => Promise<void>) => {
        const gateway = createGateway({ store: db, logger: false });
        gateway.session('agent:main', { onMessage: ({ text }) => onMessage(text) });
        await gateway.start();
        onTestFinished(() => gateway.stop());
        return gateway;
      };
      const gateway = createGateway({ store: db, logger: false });
      const session = gateway.session('agent:main', { onMessage: () => undefined });
      await gateway.start();
      const sent = await session.send({ kind: 'user', text: 'second try' });
      if (sent.accepted) await sent.processed;
      await gateway.stop();
      await ask(`UPDATE uw.message SET state = 'poison', ended_at = 5`);
      return { ...database, start };
    }

    it('[N-1] [O-13] sends one again in the database where no gateway has its session, once, for the next that has it', async () => {
      const { run, start } = await startLetters();
      expect((await run(['letters'])).stdout).toMatch(/^agent:main-m1 \(user\) poison/);
      const sent = await run(['letters', '--send', 'agent:main-m1']);
      expect(sent.stdout.replaceAll(/\s+/g, ' ')).toBe(
        'agent:main-m1 was sent again as agent:main-m2; it is delivered when a gateway that has the session starts. ',
      );
      expect((await run(['letters', '--send', 'agent:main-m1'])).stderr).toContain('is no dead letter');
      expect((await run(['letters', '--drop', 'other-m1'])).stderr).toContain('No session other is kept there.');
      expect((await run(['events', '--category', 'operator'])).stdout).toContain('sent_again');
      const seen: unknown[] = [];
      await start(async (text) => void seen.push(text));
      await expect.poll(() => seen).toEqual(['second try']);
    });

    it('[N-1] drops one for good', async () => {
      const { run } = await startLetters();
      expect(await run(['letters', '--drop', 'agent:main-m1'])).toMatchObject({
        code: 0,
        stdout: 'The dead letter agent:main-m1 was dropped for good.\n',
      });
      expect((await run(['letters'])).stdout).toBe('No dead letters.\n');
    });

    /** The gateway that has the session runs on another machine, as far as the command knows. */
    async function startElsewhere() {
      const letters = await startLetters();
      const { ask, start } = letters;
      const seen: unknown[] = [];
      await start(async (text) => void seen.push(text));
      await ask(`UPDATE uw.message SET state = 'poison', ended_at = 5`);
      for (const table of ['runtime', 'node']) await ask(`UPDATE uw.${table} SET host = 'web-2', name = 'gateway.mjs'`);
      seen.length = 0;
      return { ...letters, seen };
    }

    it('[N-3] [O-13] sends one to the gateway elsewhere that has its session, once', async () => {
      const { run, ask, seen } = await startElsewhere();
      const sent = await run(['letters', '--send', 'agent:main-m1']);
      expect(sent.stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /^agent:main-m1 was sent again as agent:main-x1; gateway\.mjs \(pid \d+ on web-2\) has the session, and takes it\. $/,
      );
      expect((await run(['letters', '--send', 'agent:main-m1'])).stderr).toContain('is no dead letter');
      await expect.poll(() => seen).toEqual(['second try']);
      const rows = 'SELECT number, mail, state, key FROM uw.message ORDER BY number';
      await expect
        .poll(() => ask(rows))
        .toEqual([
          { number: '1', mail: null, state: 'dropped', key: null },
          { number: '2', mail: '1', state: 'done', key: 'sent again: 1 begun 1' },
        ]);
      // As an earlier version may have left it: it is not sent twice.
      await ask(`UPDATE uw.message SET state = 'poison' WHERE number = 1`);
      const again = await run(['letters', '--send', 'agent:main-m1']);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('sent again already, as agent:main-x1.')]);
    });

    it('[N-3] [O-13] sends one elsewhere where a gateway here only sends to the session', async () => {
      const { run, ask, db, seen } = await startElsewhere();
      const here = createGateway({ store: db, logger: false });
      here.session('agent:main', { onMessage: () => undefined });
      await here.start();
      onTestFinished(() => here.stop());
      expect((await run(['letters', '--send', 'agent:main-m1'])).code).toBe(0);
      await expect.poll(() => seen).toEqual(['second try']);
      expect(await ask(`SELECT type FROM uw.event WHERE category = 'operator'`)).toEqual([{ type: 'sent_again' }]);
    });

    it('[N-3] drops one whose session a gateway elsewhere has', async () => {
      const { run, ask } = await startElsewhere();
      expect((await run(['letters', '--drop', 'agent:main-m1'])).code).toBe(0);
      expect(await ask('SELECT state, error FROM uw.message')).toEqual([
        { state: 'dropped', error: 'dropped by an operator' },
      ]);
    });
  });

  describe('with a message for a session that no gateway has', () => {
    async function startUntaken() {
      const database = await startDatabase();
      const claim = vi.spyOn(PgSessions.prototype, 'claim').mockResolvedValue(undefined);
      const gateway = createGateway({ store: database.db, logger: false });
      const session = gateway.session('customer:1', { onMessage: () => 'done' });
      await gateway.start();
      onTestFinished(() => gateway.stop());
      const sent = await session.send({ kind: 'user', text: 'is it paid?' }, { key: 'k' });
      await database.ask(`UPDATE uw.mail SET sent_at = sent_at - interval '31 s'`);
      return { ...database, claim, session, processed: sent.accepted ? sent.processed : undefined };
    }

    it('[N-3] [N-6] [O-13] lists it, and drops it: its sender hears that once', async () => {
      const { run, ask, processed, session } = await startUntaken();
      const listed = (await run(['letters'])).stdout;
      expect(listed).toMatch(/^customer:1-x1 \(user\) untaken, accepted .*: is it paid\?$/m);
      expect(listed).toContain('untaken: no gateway has its session');
      expect(listed).not.toContain('--send');
      expect(widest(listed)).toBeLessThanOrEqual(80);
      expect((await run(['status'])).stdout).toContain('(1 untaken)');
      const sent = await run(['letters', '--send', 'customer:1-x1']);
      expect([sent.code, sent.stderr]).toEqual([1, expect.stringContaining('customer:1-x1 waits still')]);
      const dropped = await run(['letters', '--drop', 'customer:1-x1', '--reason', 'moved']);
      expect(dropped.stdout).toBe('customer:1-x1 was dropped for good; the gateway that sent it is told.\n');
      expect(await processed).toMatchObject({
        ok: false,
        failure: {
          kind: 'cancelled',
          reason: 'by_operator',
          outcome: 'not_started',
          integration: 'session:customer:1',
        },
      });
      expect((await run(['letters'])).stdout).toBe('No dead letters.\n');
      expect((await run(['letters', '--drop', 'customer:1-x1'])).stderr).toContain('is no dead letter');
      expect(await ask('SELECT count(*)::int AS n FROM uw.message')).toEqual([{ n: 0 }]);
      const [event] = await ask(`SELECT metadata FROM uw.event WHERE type = 'dropped'`);
      expect(JSON.parse(String(event?.['metadata']))).toMatchObject({ message: 'customer:1-x1', why: 'moved' });
      expect(await session.send({ kind: 'user' }, { key: 'k' })).toMatchObject({ reason: 'duplicate' });
    });

    it('[N-6] neither lists nor drops what a live gateway has, nor what came just now', async () => {
      const { run, ask, claim } = await startUntaken();
      await ask(`UPDATE uw.mail SET sent_at = clock_timestamp()`);
      expect((await run(['letters'])).stdout).toBe('No dead letters.\n');
      claim.mockRestore();
      await ask(`UPDATE uw.mail SET sent_at = sent_at - interval '31 s'`);
      const owner = 'SELECT owner IS NOT NULL AS owned FROM uw.lease';
      await expect.poll(() => ask(owner)).toEqual([{ owned: true }]);
      await ask(`INSERT INTO uw.mail (session, body, posted_at, sender, sent_at)
        VALUES ('customer:1', '[]', 0, 'x', clock_timestamp() - interval '31 s')`);
      expect((await run(['letters'])).stdout).toBe('No dead letters.\n');
      // Its gateway is asked first, and knows of no such letter; from another machine the database says the same.
      await ask(`UPDATE uw.runtime SET host = 'web-2'`);
      const dropped = await run(['letters', '--drop', 'customer:1-x2']);
      expect([dropped.code, dropped.stderr]).toEqual([1, expect.stringContaining('customer:1-x2 waits for ')]);
      expect(await ask('SELECT state FROM uw.mail WHERE id = 2')).toEqual([{ state: 'waiting' }]);
    });
  });

  it('[N-7] [O-9] unwedge why says on which machine a session is, since when, and with which lease', async () => {
    const { run, ask, gateway } = await startGateway();
    const here = await run(['why', 'agent:main']);
    const has = /\(pid \d+ on (\S+)\) has agent:main for \S+: its lease holds for \S+ more and is renewed, fence 1\./;
    expect(here.stdout.replaceAll(/\s+/g, ' ')).toMatch(has);
    const data = JSON.parse((await run(['why', 'agent:main', '--json'])).stdout) as { owner: object };
    expect(data.owner).toMatchObject({ pid: process.pid, fence: 1 });
    for (const table of ['runtime', 'node']) await ask(`UPDATE uw.${table} SET host = 'web-2', name = 'gateway.mjs'`);
    await ask(`UPDATE uw.lease SET taken_at = taken_at - interval '3 min'`);
    const there = await run(['why', 'agent:main']);
    expect(there.stdout).toContain('message agent:main-m1 (user) is taken');
    expect(there.stdout).not.toContain('next start');
    expect(there.stdout.replaceAll(/\s+/g, ' ')).toMatch(/gateway\.mjs \(pid \d+ on web-2\) has agent:main for 3m/);
    expect(there.stderr).toContain('unwedge: Ask on web-2: attempts');
    expect(widest(there.stdout)).toBeLessThanOrEqual(80);
    await gateway.stop();
    const nowhere = await run(['why', 'agent:main']);
    expect(nowhere.stdout).not.toContain('its lease holds');
    await ask(
      `INSERT INTO uw.mail (session, body, posted_at, sender) VALUES ('customer:1', '{"kind":"user"}', 0, 'x')`,
    );
    expect((await run(['why', 'customer:1'])).stdout).toContain('message customer:1-x1 (user) is waiting');
  });

  it.each([
    ['status'],
    ['events'],
    ['why', 's'],
    ['letters', '--send', 's-m1'],
    ['restart', 'kb'],
    ['dashboard'],
    ['incident', 'kb'],
  ])('[N-1] [L-6] says which database cannot be read, why, and what to do: %s %s %s', async (...words) => {
    const db = `postgres://robin:${secret}@127.0.0.1:1/agents?sslmode=disable`;
    const { code, stdout, stderr } = await call([...words.filter((word) => typeof word === 'string'), '--db', db]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Cannot read postgres://127.0.0.1:1/agents: connect ECONNREFUSED 127.0.0.1:1.');
    expect(stderr).toContain('Fix: see that the server runs and can be reached');
    expect(stderr).not.toMatch(/robin|hunter2/);
  });

  it('[N-1] [O-8] shows it in the configuration as what it is, without who signs in', async () => {
    const env = { UNWEDGE_DB: `postgres://robin:${secret}@db/agents?schema=mine` };
    const { code, stdout } = await call(['config'], { env });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^store +postgres:\/\/db\/agents\?schema=mine +UNWEDGE_DB$/m),
    ]);
  });

  it('[N-1] [L-6] says that no gateway has used it yet, and how to mend a wrong URL', async () => {
    const { run, db } = await startDatabase();
    const { code, stderr } = await run(['status']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no gateway has used it yet')]);
    const wrong = await call(['status'], { env: { UNWEDGE_DB: db.replace('schema=', 'schema=A-') } });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('Expected `schema` of the `store`')]);
    expect(wrong.stderr).not.toContain(secret);
  });

  it('[N-1] [L-6] suggests commands on the same database, without who signs in', async () => {
    const { run, ask } = await startGateway();
    await ask(`UPDATE uw.breaker SET state = 'open'`);
    await ask(
      `INSERT INTO uw.message (session, number, body, state, posted_at, ended_at) VALUES ('x', 1, '{"kind":"user"}', 'poison', 1, 2)`,
    );
    const { stdout } = await run(['letters']);
    expect(stdout).toMatch(
      /unwedge letters --send x-m1 --db 'postgres:\/\/127\.0\.0\.1:\d+\/test_\d+\?schema=test_\d+&leaseMs=2500'/,
    );
  });

  it('[N-7] [L-6] unwedge cluster shows the gateways, what each owns, and what waits for whom', async () => {
    const { run, ask } = await startGateway();
    const { stdout } = await run(['cluster']);
    expect(stdout).toMatch(/: 1 gateway, 1 session$/m);
    expect(stdout).toMatch(new RegExp(`^GATEWAY +HOST +PID +OWNS`, 'm'));
    expect(stdout).toMatch(new RegExp(` ${process.pid} +1 +0 +[\\d.]+m?s left`));
    expect(stdout).toMatch(/^agent:main +1 +[\d.]+m?s +1 +\S/m);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    const data = JSON.parse((await run(['cluster', '--json'])).stdout) as { nodes: { pid: number }[] };
    expect(data.nodes.map(({ pid }) => pid)).toEqual([process.pid]);
    await ask(`INSERT INTO uw.mail (session, body, posted_at, sender) VALUES ('customer:1', '{}', 0, 'x')`);
    const later = (await run(['cluster'])).stdout;
    expect(later).toContain('! customer:1 has messages and no gateway; the oldest waits for ');
    expect(later).toMatch(/^customer:1 +1 +\S+ +0 +nobody$/m);
  });

  it('[N-7] unwedge cluster says of a file that it is that of one machine', async () => {
    const { code, stderr } = await call(['cluster', '--db', await databaseWith()]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is the file of one machine')]);
  });

  describe('unwedge doctor', () => {
    const homeless = () => ({ HOME: temporaryDirectory(), XDG_RUNTIME_DIR: temporaryDirectory() });
    const findingsOf = ({ stdout }: Ran) =>
      (
        JSON.parse(stdout) as {
          findings: { id: string; subject: string; status: string; summary: string; fix: string | null }[];
        }
      ).findings;

    it('[N-1] [E-2] looks at the database, also that of a configuration, and at the gateways on it', async () => {
      const { run, db, ask } = await startGateway();
      await ask(`INSERT INTO uw.runtime (id, host, pid, process_start, started_at, renewed_at, name, socket)
        VALUES ('r2', 'web-2', 4711, '1@boot@ns', 1, 1, 'gateway.mjs', '/run/there.sock')`);
      const file = join(temporaryDirectory(), 'unwedge.json');
      writeFileSync(file, JSON.stringify({ store: db }));
      const env = homeless();
      const configured = await call(['doctor', '--json', '--config', file], { env, now: () => Date.now() });
      expect(`${configured.stdout}${configured.stderr}`).not.toContain(secret);
      for (const found of [await run(['doctor', '--json'], { env }), configured].map(findingsOf)) {
        const of = (subject: string) => found.filter((each) => each.subject === subject);
        expect(of('database')).toMatchObject([{ id: 'store', status: 'ok' }]);
        const runtimes = of('processes').filter(({ id }) => id.startsWith('runtime'));
        expect(new Set(runtimes.map(({ id, status }) => `${id} ${status}`))).toEqual(
          new Set(['runtime ok', 'runtime.elsewhere ok']),
        );
      }
    });

    it('[N-1] [E-2] [L-6] says that it cannot be reached, or was never used', async () => {
      const { run } = await startDatabase();
      const env = homeless();
      expect(
        findingsOf(await run(['doctor', '--json'], { env })).find(({ subject }) => subject === 'database'),
      ).toMatchObject({
        id: 'store.absent',
        status: 'warning',
      });
      const words = ['doctor', '--json', '--db', `postgres://robin:${secret}@127.0.0.1:1/agents`];
      const ran = await call(words, { env });
      expect(ran.stdout).not.toMatch(/robin|hunter2/);
      expect(findingsOf(ran).find(({ subject }) => subject === 'database')).toEqual({
        ...{ subject: 'database', id: 'store.unreachable', status: 'fail', fix: null },
        summary:
          'Cannot read postgres://127.0.0.1:1/agents: connect ECONNREFUSED 127.0.0.1:1; see that the server runs and can be reached: `store` of the gateway',
      });
    });
  });

  it('[N-1] [E-1] unwedge serve keeps its sessions there', async () => {
    const { db, ask } = await startDatabase();
    const directory = temporaryDirectory();
    const file = join(directory, 'serve.json');
    writeFileSync(file, JSON.stringify({ store: db, mcpServers: { everything } }));
    const ends = new AbortController();
    let said = '';
    const write = (text: string) => (said += text);
    const words = ['serve', '--config', file, '--listen', '127.0.0.1:0', '--token-file', join(directory, 'token')];
    const serving = call(words, { signal: ends.signal, stdout: { write }, stderr: { write }, now: () => Date.now() });
    await expect.poll(() => said).toContain('Try: curl');
    expect(said).not.toContain(secret);
    const [, origin = ''] = /^(http:\S+) serves the gateway of postgres:\/\/127\.0\.0\.1/.exec(said) ?? [];
    const authorization = `Bearer ${readFileSync(join(directory, 'token'), 'utf8').trim()}`;
    const made = await fetch(`${origin}/v1/sessions`, {
      method: 'POST',
      headers: { authorization },
      body: '{"id":"main"}',
    });
    expect(made.status).toBe(201);
    await expect.poll(() => ask('SELECT key FROM uw.lease')).toEqual([{ key: 'serve:main' }]);
    ends.abort();
    expect((await serving).code).toBe(0);
  });
});
