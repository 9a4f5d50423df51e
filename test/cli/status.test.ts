import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { checkAlertRules } from '../../src/policy/alerts.ts';
import type { Fact, Told } from '../../src/policy/facts/facts.ts';
import { type FailureKind, failureKinds } from '../../src/policy/failures/failure.ts';
import type { PersistedBreaker } from '../../src/policy/records/persistedBreaker.ts';
import { noFigures } from '../../src/policy/records/callFigures.ts';
import { Latencies } from '../../src/policy/records/latencies.ts';
import { AlertWatch } from '../../src/alerts/alertWatch.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { failed, hasSqlite, startStore, told } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { call, databaseWith } from './startCli.ts';

const now = Date.UTC(2026, 0, 1, 1);

/** Of `--json`. */
interface Others {
  readonly otherRuntimes?: readonly unknown[];
}

interface Shown {
  readonly integrations: readonly { readonly integration: string; readonly failures10m: number }[];
}

/** The integrations that these facts raise an alert of, when one is enough. */
function raisedBy(facts: readonly Told<Fact>[]): readonly string[] {
  const bus = createBus({ clock: new SimulatedClock() });
  const raised: string[] = [];
  bus.on('alert.raised', ({ integration }) => raised.push(integration));
  const ruleOf = checkAlertRules('alerts', { failures: 1 });
  const origin = () => ({ host: 'web-1', pid: 1, gateway: 'gateway.mjs' });
  new AlertWatch({ clock: new SimulatedClock(), bus, ruleOf, origin, newId: () => 'id' }).start(undefined, [], []);
  for (const fact of facts) bus.tell(fact);
  return raised.toSorted();
}

async function databaseWithBreaker(breaker: Partial<PersistedBreaker>): Promise<string> {
  const { store, path } = await startStore();
  const open = {
    state: 'open',
    openedAt: now,
    openUntil: now,
    lastOpenMs: 60_000,
    openings: 1,
    failures: 5,
    generation: 1,
  } as const;
  store.breakers.save('kb', { ...open, ...breaker });
  const { pausedAt, pausedUntil } = breaker;
  if (pausedAt !== undefined && pausedUntil !== undefined) store.breakers.pause('kb', pausedAt, pausedUntil);
  await store.flush();
  return path;
}

async function circuitOf(breaker: Partial<PersistedBreaker>): Promise<string | undefined> {
  const { stdout } = await call(['status', '--db', await databaseWithBreaker(breaker)]);
  return /^kb {2,}(\S.*?) {2,}/m.exec(stdout)?.[1];
}

describe.skipIf(!hasSqlite)('unwedge status', () => {
  it('[L-2] shows in the tree nothing of a name that cannot be seen or steers a terminal', async () => {
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    onTestFinished(() => gateway.stop());
    gateway.integration('k\u200Bb\u001B[2J', {}, () => 'up');
    await gateway.start();
    const { stdout } = await call(['status', '--tree', '--db', db], { now: Date.now });
    expect(stdout).toContain('kb');
    expect(stdout).not.toContain('\u200B');
    expect(stdout).not.toContain('\u001B');
  });

  it('[O-13] [G-15] leads with a client of a proxy that repeats itself, in 80 columns, and for 10 minutes', async () => {
    const spins = (step: 'notice' | 'tell', count: number) =>
      told({
        ...{
          type: 'session.spinning',
          session: 'claude-code (pid 4711)',
          integration: 'files',
          tool: 'edit',
          step,
          count,
        },
        ...{ form: 'failure', answer: 'not found', message: `edit was called ${count} times and failed alike` },
      });
    const db = await databaseWith(spins('notice', 4), spins('tell', 6));
    const shown = async (later: number) =>
      (await call(['status', '--db', db], { now: () => Date.UTC(2026, 0, 1) + later, columns: 80 })).stdout;
    const first = await shown(60_000);
    expect(first).toMatch(
      /^! session claude-code \(pid 4711\) spins: edit was called 6 times and failed alike\n? *\(tell, 1m ago\)\n/,
    );
    expect(first).toContain("  next: unwedge why 'claude-code (pid 4711)' --db");
    expect(first.split('\n').filter((line) => line.length > 80 && !line.includes(db))).toEqual([]);
    const why = await call(['why', 'claude-code (pid 4711)', '--db', db]);
    expect(why.stdout).toContain('edit was called 6 times and failed alike: not found');
    expect(await shown(600_001)).not.toContain('spins');
  });

  it('[L-6] says how many sessions there are beside the hundred seen last', async () => {
    const sessions = Array.from({ length: 130 }, (_, index) =>
      told({ type: 'session.started', session: `s${index}`, incarnation: 1 }),
    );
    const db = await databaseWith(...sessions);
    const { stdout } = await call(['status', '--db', db]);
    expect(stdout).toContain('… and 30 sessions of the last 24h that were seen before these\n');
    const { stdout: json } = await call(['status', '--json', '--db', db]);
    expect(JSON.parse(json)).toMatchObject({ moreSessions: 30 });
    const { stdout: few } = await call(['status', '--db', await databaseWith(...sessions.slice(0, 100))]);
    expect(few).not.toContain('seen before these');
  });

  it('shows failures, the last error and the sessions', async () => {
    const session = told({ type: 'session.started', session: 'agent:main', incarnation: 1 });
    const db = await databaseWith(failed(1), { ...failed(2), at: now - 12_000 }, session);
    const { code, stdout } = await call(['status', '--db', db]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${db}: 3 events`);
    expect(stdout).toMatch(/^kb +closed +1 +2 +0 +0 {2}12s ago: timeout: no answer within 30 s$/m);
    expect(stdout).toMatch(/^agent:main +1h ago +0$/m);
  });

  it('[O-10] [L-6] shows the success rate and p95 of the last day, at any width without cutting what one looks for', async () => {
    const { store, path } = await startStore();
    const took = new Latencies();
    for (let count = 0; count < 99; count++) took.add(1200);
    const figures = { ...noFigures, succeeded: 99, failed: { timeout: 1 }, took: took.take() };
    const row = { integration: 'server-filesystem', tool: undefined, minute: now - 60_000, ...figures };
    store.statistics.add([
      row,
      { ...row, tool: 'read', succeeded: 0 },
      { ...row, integration: 'long-ago', minute: now - 25 * 3_600_000 },
    ]);
    const open = { state: 'open', openedAt: now, openUntil: now + 41_000, lastOpenMs: 60_000 } as const;
    store.breakers.save('server-filesystem', { ...open, openings: 1, failures: 5, generation: 1 });
    store.record({ ...failed(1, { integration: 'server-filesystem' }), at: now - 12_000 });
    await store.flush();

    const shown = async (columns: number) =>
      (await call(['status', '--db', path], { isTTY: true, columns, env: { NO_COLOR: '1' } })).stdout.split('\n');
    const table = async (columns: number) => {
      const lines = await shown(columns);
      return lines.slice(lines.findIndex((line) => line.startsWith('INTEGRATION'))).join('\n');
    };
    expect(await table(60)).toMatch(
      /^INTEGRATION +CIRCUIT +SUCCESS +FAILED 10M\nserver-filesystem +open, probe in 41s +99\.0 % +1\n {2}12s ago: timeout: no answer within 30 s\n/,
    );
    expect(await table(80)).toMatch(
      /^INTEGRATION +CIRCUIT +SUCCESS +P95 +FAILED 10M +24H\nserver-filesystem +open, probe in 41s +99\.0 % +1\.[23]s +1 +1\n {2}12s ago: timeout: no answer within 30 s\n/,
    );
    expect(await table(120)).toMatch(
      /^INTEGRATION +CIRCUIT +SUCCESS +P95 +FAILED 10M +24H +CRASHED 10M +24H\n.* 99\.0 % +1\.[23]s +1 +1 +0 +0\n {2}12s ago: timeout: no answer within 30 s\n/,
    );
    for (const columns of [60, 80, 120])
      for (const line of (await shown(columns)).filter((each) => !/^ *next: /.test(each)))
        expect(line.length).toBeLessThanOrEqual(columns);
    const { stdout } = await call(['status', '--json', '--db', path]);
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [{ integration: 'server-filesystem', calls24h: 100, successRate24h: 0.99, p95Ms24h: 1274 }],
    });
  });

  it('[O-10] [L-6] keeps the success rate in 80 columns where circuits are wide and names are long', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const name = 'server-filesystem-of-docs';
    const files = gateway.integration(name, {}, () => 'here');
    await gateway.start();
    onTestFinished(() => gateway.stop());
    gateway.store?.statistics.add([
      { ...noFigures, integration: name, tool: undefined, minute: now - 60_000, succeeded: 1 },
    ]);
    await gateway.store?.flush();
    for (const tool of ['read', 'write', 'list']) onTestFinished(files.breaker.of(tool).isolate());
    const { stdout } = await call(['status', '--db', db], { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^INTEGRATION +CIRCUIT +SUCCESS +FAILED 10M/m);
    for (const line of stdout.split('\n').filter((each) => !each.includes('next: ')))
      expect(line.length).toBeLessThanOrEqual(80);
  });

  it('[L-5] says that work which ignores its signal still runs, for as long as it does', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const ends: (() => void)[] = [];
    const policy = { abortGraceMs: 1, maxAttempts: 1 };
    const stubborn = gateway.integration('stubborn', { policy }, () => new Promise<void>((end) => ends.push(end)));
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const abandon = async (): Promise<void> => {
      const controller = new AbortController();
      const abandoned = gateway.wait('call.abandoned');
      const call = stubborn.call('x', { signal: controller.signal });
      controller.abort();
      await Promise.all([abandoned, call]);
    };
    const shown = async () => (await call(['status', '--db', db])).stdout;
    await abandon();
    expect(await shown()).toMatch(/^1 abandoned attempt of stubborn still runs: it ignores its signal$/m);
    await abandon();
    expect(await shown()).toMatch(/^2 abandoned attempts of stubborn still run: they ignore their signal$/m);
    const { stdout } = await call(['status', '--json', '--db', db]);
    expect(JSON.parse(stdout)).toMatchObject({ integrations: [{ live: [{ inFlight: 0, abandoned: 2 }] }] });
    const late = gateway.wait('call.late', { where: ({ attempt }) => attempt === 1 });
    for (const end of ends) end();
    await late;
    expect(await shown()).not.toContain('abandoned');
  });

  it('[R-18] says how many late answers are kept, and until when', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const ends: ((value: string) => void)[] = [];
    gateway.integration('jobs', { keepMs: 600_000 }, () => new Promise<string>((end) => ends.push(end)));
    const session = gateway.session('main', {
      async onMessage({ text }, turn) {
        const limit = new AbortController();
        const asked = turn.tool('jobs', 'build', { ref: text }, { signal: limit.signal });
        await vi.waitFor(() => expect(ends.length).toBe(text === 'one' ? 1 : 2));
        limit.abort(new DOMException('The operation timed out', 'TimeoutError'));
        await asked;
      },
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const passesLimit = async (text: string): Promise<void> => {
      const sent = await session.send({ kind: 'user', text });
      if (sent.accepted) await sent.processed;
    };
    const shown = async () => (await call(['status', '--db', db])).stdout;
    expect(await shown()).not.toContain('late answer');
    await passesLimit('one');
    expect(await shown()).toMatch(
      /^1 pending late answer of jobs is kept until \d\d:\d\d:\d\d UTC: the same call gets it$/m,
    );
    await passesLimit('two');
    const ended = gateway.wait('call.kept_ended');
    ends[0]?.('built');
    await ended;
    expect(await shown()).toMatch(/^1 finished late answer and 1 pending late answer of jobs are kept until /m);
    const { stdout } = await call(['status', '--json', '--db', db]);
    const until = expect.any(Number) as number;
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [{ live: [{ kept: { pending: 1, finished: 1, until } }] }],
    });
  });

  it("[I-4] [O-3] counts nothing that is on record as nobody's failure, and says what it was", async () => {
    const { failure } = failed(1);
    const answers = Array.from({ length: 6 }, (_, at) => failed(at, { failure: { ...failure, alerts: false } }));
    const db = await databaseWith(...answers, failed(7));
    const { stdout } = await call(['status', '--json', '--db', db], { now: () => Date.UTC(2026, 0, 1) + 60_000 });
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [{ integration: 'kb', failures10m: 1, failures24h: 1, lastError: { kind: 'timeout' } }],
      alerts: { unwatched: [] },
    });
  });

  it('[L-6] tells many idle sessions in one line, --all each of them, and always those of which something failed', async () => {
    const at = Date.UTC(2026, 0, 1);
    const idle = Array.from({ length: 57 }, (_, index) =>
      told({ type: 'session.started', session: `idle-${index}`, incarnation: 1 }),
    );
    const called = {
      type: 'session.tool_failed' as const,
      ...{ session: 'agent:main', turn: 1, call: 'c1', tool: 'search', integration: 'kb', kind: 'transient' as const },
      ...{ retries: 0, synthetic: true, outcome: 'failed' as const, message: 'connection refused' },
    };
    const db = await databaseWith(...idle, told(called));
    const ask = async (...words: string[]) =>
      (await call(['status', '--db', db, ...words], { now: () => at + 60_000 })).stdout;
    const folded = await ask();
    expect(folded.split('\n').length).toBeLessThan(15);
    expect(folded).toMatch(/^SESSION +LAST EVENT +FAILED TURNS 24H +CALLS +LAST ERROR$/m);
    expect(folded).toMatch(/^agent:main +\S+ ago +0 +1 +\S+ ago: transient: connection refused$/m);
    expect(folded).toMatch(/^57 other sessions of the last 24h: idle, and nothing of them failed; --all shows them$/m);
    expect((await ask('--all')).match(/^idle-\d+ /gm)).toHaveLength(57);
    const data = JSON.parse(await ask('--json')) as { sessions: readonly { failedCalls24h?: number }[] };
    expect(data.sessions).toHaveLength(58);
    expect(data.sessions.find(({ failedCalls24h }) => failedCalls24h === 1)).toBeDefined();
  });

  it('[O-10] does not say that all goes well beside a circuit that refuses calls', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false });
    const kb = gateway.integration('kb', {}, () => 'well');
    await gateway.start();
    onTestFinished(() => gateway.stop());
    await kb.call({});
    onTestFinished(kb.breaker.isolate());
    await gateway.stop();
    const kept = createGateway({ store: db, logger: false });
    onTestFinished(() => kept.stop());
    onTestFinished(kept.integration('kb', {}, () => 'well').breaker.isolate());
    await kept.start();
    const { stdout } = await call(['status', '--db', db], { now: Date.now });
    expect(stdout).toMatch(/^kb +isolated +refused /m);
  });

  it('[I-4] shows sessions whose turns failed, with the last error', async () => {
    const turn = {
      type: 'session.turn_failed',
      session: 'desk',
      message: 'desk-m1',
      kind: 'unknown',
      elapsedMs: 1,
    } as const;
    const db = await databaseWith(
      { ...told({ ...turn, turn: 1, error: 'first' }), at: now - 60_000 },
      { ...told({ ...turn, turn: 2, error: 'boom' }), at: now - 12_000 },
    );
    const { stdout } = await call(['status', '--db', db]);
    expect(stdout).toMatch(/^SESSION +LAST EVENT +FAILED TURNS 24H +LAST ERROR$/m);
    expect(stdout).toMatch(/^desk +12s ago +2 {2}12s ago: unknown: boom$/m);
    expect(stdout).not.toContain('No failures');
  });

  it('[L-6] leaves the table two thirds of the screen, whatever needs attention', async () => {
    const turn = { type: 'session.turn_failed', turn: 1, message: 'm', kind: 'unknown', elapsedMs: 1 } as const;
    const facts = [1, 2, 3, 4].map((desk) => told({ ...turn, session: `desk-${desk}`, error: 'boom' }));
    const db = await databaseWith(...facts);
    const attention = async (page: number | undefined) =>
      (await call(['status', '--db', db], { page })).stdout
        .split('\n')
        .filter((line) => /^(!| {2}(next|…))/.test(line));
    expect((await attention(undefined)).length).toBe(8);
    expect((await attention(12)).length).toBe(5);
    expect((await attention(14)).at(-1)).toBe('  … and 2 more: --json has all');
    expect((await attention(18)).at(-1)).toBe('  … and 1 more: --json has all');
  });

  it('[I-4] calls for nobody to look at a failed turn once a later one went well', async () => {
    const turn = { session: 'desk', turn: 1, message: 'desk-m1', elapsedMs: 1 } as const;
    const failedAt = (ago: number) => ({
      ...told({ ...turn, type: 'session.turn_failed', kind: 'unknown', error: 'boom' }),
      at: now - ago,
    });
    const endedAt = (ago: number, ok: boolean) => ({
      ...told({ ...turn, type: 'session.turn_ended', kind: 'user', ok }),
      at: now - ago,
    });
    const needs = async (...facts: readonly Told<Fact>[]) => {
      const { stdout } = await call(['status', '--json', '--db', await databaseWith(...facts)]);
      return (JSON.parse(stdout) as { attention: { what: string }[] }).attention.map(({ what }) => what);
    };
    const told24h = ['session desk failed in 1 turn of the last 24h, and no turn went well since: unknown: boom'];
    expect(await needs(endedAt(30_000, true), failedAt(12_000), endedAt(12_000, false))).toEqual(told24h);
    // Of one millisecond the order of recording says which was last.
    expect(await needs(failedAt(12_000), endedAt(12_000, false), endedAt(12_000, true))).toEqual([]);
    expect(await needs(failedAt(12_000), endedAt(9_000, true))).toEqual([]);
    expect(await needs(failedAt(12_000), endedAt(9_000, true), failedAt(5_000), endedAt(5_000, false))).toHaveLength(1);
    // Nor at one that is a day old.
    expect(await needs(failedAt(24 * 3_600_000))).toHaveLength(1);
    expect(await needs(failedAt(24 * 3_600_000 + 1))).toEqual([]);
  });

  it('[I-4] names the gateways on other databases, where none was named', async () => {
    const store = join(temporaryDirectory(), 'busy.sqlite');
    const gateway = createGateway({ store });
    onTestFinished(() => gateway.stop());
    await gateway.start();
    const env = { UNWEDGE_DB: await databaseWith(failed(1)) };
    const others = async (...words: string[]) =>
      (JSON.parse((await call(['status', '--json', ...words], { env })).stdout) as Others).otherRuntimes;
    expect(await others()).toContainEqual(expect.objectContaining({ pid: process.pid, database: store }));
    expect(await others('--db', store)).toBeUndefined();
    const own = JSON.parse((await call(['status', '--json'], { env: { UNWEDGE_DB: store } })).stdout) as Others;
    expect(own.otherRuntimes).not.toContainEqual(expect.objectContaining({ database: store }));
    // Where there is no database at all, they are told beside the error.
    const { code, stderr } = await call(['status'], { env: { UNWEDGE_DB: join(temporaryDirectory(), 'none') } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Gateways and proxies that run on other databases:\n {2}\S.*\n {4}unwedge status --db \S/);
    expect(stderr).toContain('No database at');
  });

  it('[I-4] counts the failures of hooks once, of a gateway and outside of one', async () => {
    const hook = told({ type: 'hook.failed', hook: 'guard', event: 'Stop', action: '', error: 'it hung' });
    const db = await databaseWith(hook, { ...hook, at: now - 12_000 }, failed(1, { integration: 'hook:guard' }));
    const { stdout } = await call(['status', '--db', db]);
    expect(stdout).toMatch(/^hook:guard +closed +1 +2 +0 +0 {2}12s ago: it hung$/m);
  });

  it('[I-4] [M-6] counts losses of what is behind an integration, and restarts that failed, apart from failed calls', async () => {
    const lost = { type: 'integration.crashed', integration: 'fs', message: 'The server exited with code 3' } as const;
    const db = await databaseWith(
      { ...told(lost), at: now - 12_000 },
      { ...told({ ...lost, type: 'integration.restart_failed' }), at: now - 11_000 },
      told(lost),
    );
    const { stdout } = await call(['status', '--db', db]);
    expect(stdout).toMatch(/^INTEGRATION +CIRCUIT +FAILED 10M +24H +CRASHED 10M +24H +LAST ERROR$/m);
    expect(stdout).toMatch(/^fs +closed +0 +0 +2 +3 {2}11s ago: crash: The server exited with code 3$/m);
  });

  it.each(Object.keys(failureKinds) as FailureKind[])(
    '[O-3] [O-1] counts a failure of kind %s where an alert does, and nowhere else',
    async (kind) => {
      const { failure } = failed(1);
      const call1: Told<Fact> = { ...failed(1), at: now - 1000, failure: { ...failure, kind } };
      const hook = { hook: 'guard', event: 'Stop', action: '', kind, error: 'it hung' };
      const called: Told<Fact> = { ...call1, integration: 'hook:guard' };
      const facts: Told<Fact>[] = [call1, called, { type: 'hook.failed', ...hook, at: now - 1000 }];
      const raised = raisedBy(facts);
      const db = await databaseWith(...facts);
      const { integrations } = JSON.parse((await call(['status', '--json', '--db', db])).stdout) as Shown;
      const counted = integrations.filter(({ failures10m }) => failures10m === 1).map(({ integration }) => integration);
      expect(counted).toEqual(raised);
      expect(raised).toEqual(failureKinds[kind].alerts ? ['hook:guard', 'kb'] : []);
    },
  );

  it('[O-10] leaves out last what is not zero: in a crash loop that every call survives the crashes', async () => {
    const crash = { type: 'integration.crashed', integration: 'fs', message: 'The server exited with code 3' } as const;
    const db = await databaseWith(...[3, 2, 1].map((seconds) => ({ ...told(crash), at: now - seconds * 1000 })));
    const shown = await call(['status', '--db', db], { isTTY: true, columns: 40, env: { NO_COLOR: '1' } });
    expect(shown.stdout).toMatch(/^INTEGRATION +CIRCUIT +CRASHED 10M/m);
    expect(shown.stdout).not.toContain('FAILED 10M');
  });

  it('[O-3] counts failures for as long as alerts do, not a millisecond longer', async () => {
    const aged = (ms: number) => ({ ...failed(1), at: now - ms });
    const db = await databaseWith(aged(10 * 60_000), aged(10 * 60_000 - 1), aged(24 * 60 * 60_000));
    expect((await call(['status', '--db', db])).stdout).toMatch(/^kb +closed +1 +2 +0 +0 /m);
  });

  it('[O-1] shows the last error also of a kind that does not count, but not what somebody wanted ended', async () => {
    const of = (kind: FailureKind, integration: string) => ({
      ...failed(1, { integration }),
      at: now - 1000,
      failure: { ...failed(1).failure, kind, message: `it is ${kind}` },
    });
    const { stdout } = await call(['status', '--db', await databaseWith(of('permanent', 'kb'), of('cancelled', 'fs'))]);
    expect(stdout).toMatch(/^kb +closed +0 +0 +0 +0 {2}1s ago: permanent: it is permanent$/m);
    expect(stdout).not.toMatch(/^fs /m);
  });

  it.each(['circuit_open', 'too_many_requests', 'unavailable'] as const)(
    '[O-9] shows what went wrong last, never that a call was refused for it: %s',
    async (kind) => {
      const { failure } = failed(1);
      const refused = { ...failed(2), at: now - 1000, failure: { ...failure, kind, message: 'it is open' } };
      const { stdout } = await call(['status', '--db', await databaseWith(failed(1), refused)]);
      expect(stdout).toMatch(/timeout: no answer within 30 s$/m);
      expect(stdout).not.toContain('it is open');
    },
  );

  it('[O-9] shows what opened a circuit where every call that it failed for ended by that', async () => {
    const { failure } = failed(1);
    const opened = { integration: 'kb', openForMs: 60_000, kind: 'transient', cause: 'gateway closed (1012)' } as const;
    const db = await databaseWith(
      { ...told({ type: 'breaker.opened', ...opened }), at: now - 1000 },
      { ...failed(1), at: now - 1000, failure: { ...failure, kind: 'circuit_open', message: 'it is open' } },
    );
    expect((await call(['status', '--db', db])).stdout).toMatch(/ 1s ago: transient: gateway closed \(1012\)$/m);
  });

  it('[O-9] names the rule that opened a circuit where it is known, as text and as data', async () => {
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const cause = { kind: 'transient', message: 'HTTP 503', failures: [] } as const;
    const shown = async (given: PersistedBreaker['cause'], ...words: string[]) => {
      const db = await databaseWithBreaker({ openUntil: now + 41_500, cause: given });
      return (await call([...words, '--db', db])).stdout;
    };
    const open = '! kb is not called: its circuit is open';
    const by = '(10 of the last 20 attempts failed, failureRatio 0.5)';
    expect(await shown({ ...cause, rule }, 'status')).toContain(`${open} ${by}, next try in 42s`);
    expect(await shown(cause, 'status')).toContain(`${open}, next try in 42s`);
    expect(await shown({ ...cause, rule }, 'why', 'kb')).toContain(`its circuit was last open ${by}, probe in 42s;`);
    const data = JSON.parse(await shown({ ...cause, rule }, 'status', '--json')) as unknown;
    expect(data).toMatchObject({ integrations: [{ breaker: { cause: { rule } } }] });
  });

  it('shows when an open circuit lets a probe through', async () => {
    expect(await circuitOf({ openUntil: now + 41_500 })).toBe('open, probe in 42s');
    expect(await circuitOf({ openUntil: now })).toBe('open, probe due');
    expect(await circuitOf({ state: 'closed', openUntil: now + 41_500 })).toBe('closed');
  });

  it('[L-5] [M-13] shows the pause that the server of an open circuit asked for, where that is longer, also as why tells it', async () => {
    const paused = { pausedAt: now - 5000, pausedUntil: now + 25_000 };
    expect(await circuitOf({ openUntil: now, ...paused })).toBe('open, paused for 25s');
    expect(await circuitOf({ openUntil: now + 41_500, ...paused })).toBe('open, probe in 42s');
    expect(await circuitOf({ openUntil: now, ...paused, pausedUntil: now })).toBe('open, probe due');
    const db = await databaseWithBreaker({ openUntil: now, ...paused });
    const { stdout } = await call(['why', 'kb', '--db', db]);
    expect(stdout).toContain('! kb is not called: its server asked for a pause, next try in 25s\n');
    expect(stdout).toContain('its circuit was last open; its server asked not to be called for 25s more; no running');
  });

  it('shows no more than the circuit was opened for after the wall clock was set back', async () => {
    expect(await circuitOf({ openUntil: now + 3_600_000 })).toBe('open, probe in 1m');
  });

  it('[L-2] gives the same as data', async () => {
    const { stdout } = await call(['status', '--json', '--db', await databaseWithBreaker({ openUntil: now + 1 })]);
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [
        { integration: 'kb', failures10m: 0, circuit: 'open', breaker: { state: 'open', openUntil: now + 1 } },
      ],
      sessions: [],
    });
  });

  it('[L-2] gives the circuit of every integration as data, also of one that was never kept', async () => {
    const { stdout } = await call(['status', '--json', '--db', await databaseWith(failed(1))]);
    expect(JSON.parse(stdout)).toMatchObject({
      integrations: [{ integration: 'kb', circuit: 'closed' }],
      runtimes: [],
    });
  });

  it('says that nothing is on record', async () => {
    const { stdout } = await call([
      'status',
      '--db',
      await databaseWith(told({ type: 'child.started', child: 'kb', incarnation: 1 })),
    ]);
    expect(stdout).toContain('1 event\n');
    expect(stdout).toContain('No failures and no circuits are on record: gateways, proxies');
  });

  it('[O-9] shows why a server that crashes again and again does so, and where to read on', async () => {
    const { store, clock, path } = await startStore();
    const at = Date.UTC(2026, 0, 1, 1) - 5_000;
    const error =
      "The server exited with code 1; stderr: throw err; | Error: Cannot find module '/x' | Node.js v20.20.2";
    const crash = { incarnation: 1, elapsedMs: 5, queued: 0, restarts: 0, next: 'restart' } as const;
    const message = 'The server exited with code 1';
    const { failure } = failed(1);
    store.record({ type: 'integration.crashed', integration: 'fs', message, at });
    store.record({ type: 'child.crashed', child: 'mcp:fs', path: [], error, ...crash, at });
    store.record(failed(1, { integration: 'fs', at, failure: { ...failure, kind: 'crash', message } }));
    const flushed = store.flush();
    await clock.settle();
    await flushed;
    const { stdout } = await call(['status', '--db', path]);
    expect(stdout).toMatch(/The server exited with code 1: Error: Cannot find module '\/x'$/m);
    expect(stdout).not.toContain('Node.js');
  });
});
